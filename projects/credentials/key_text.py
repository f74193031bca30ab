"""Text of an API key, `fw_<id>_<secret><checksum>`: the id identifies its row. Without Django."""

import secrets
import string
import zlib
from dataclasses import dataclass
from functools import lru_cache

KEY_PREFIX = "fw_"
_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH, _SECRET_LENGTH, _CHECKSUM_LENGTH = 10, 32, 6
# Number of keys whose checksum is cached: every request carries a key, and few are in use.
_CACHED_KEYS = 1024


@dataclass(frozen=True, slots=True)
class KeyParts:
    key_id: str
    secret: str


class MalformedKey(ValueError):
    """Text that is not a Flamewatch key: mistyped, truncated or of another kind."""


def make(key_id: str, secret: str, prefix: str = KEY_PREFIX) -> str:
    return f"{prefix}{key_id}_{secret}{_checksum(key_id + secret)}"


@lru_cache(_CACHED_KEYS)  # caches only well-formed texts, so their length is bounded
def parse(text: str, prefix: str = KEY_PREFIX) -> KeyParts:
    """Split a key into its parts; raise MalformedKey if its shape or checksum is wrong."""
    head, _, rest = text.removeprefix(prefix).partition("_")
    secret, checksum = rest[:-_CHECKSUM_LENGTH], rest[-_CHECKSUM_LENGTH:]
    shape = text.startswith(prefix) and len(head) == _ID_LENGTH and len(secret) == _SECRET_LENGTH
    legible = text.isascii() and text.isprintable()  # databases reject NUL in the id
    if not shape or not legible or checksum != _checksum(head + secret):
        raise MalformedKey("Not a Flamewatch key, or a part of it is missing.")
    return KeyParts(head, secret)


def generate(prefix: str = KEY_PREFIX) -> str:
    """Return the text of a new key, or of a token with another prefix."""
    return make(_random(_ID_LENGTH), _random(_SECRET_LENGTH), prefix)


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _checksum(text: str) -> str:
    """Return the CRC-32 as six base-62 digits, for secret scanners and to detect typing errors."""
    value, digits = zlib.crc32(text.encode()), ""
    for _digit in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, 62)
        digits = _ALPHABET[digit] + digits
    return digits
