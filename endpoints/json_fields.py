"""Readers of fields in protobuf's JSON: lowerCamelCase or proto names, null means absent.

Every reader takes the path of its field, for the message of BadField.
"""

import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pybase64

from endpoints import nul
from endpoints.errors import BadField
from projects.profile_types import WIRE_NUMBERS, ProfileType

Message = dict[str, Any]

_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?s", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PADDING = {0: b"", 2: b"==", 3: b"="}
_STANDARD_ALPHABET = bytes.maketrans(b"-_", b"+/")


def get(message: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, by its JSON name or its proto name; None if absent."""
    value = message.get(name)
    if value is None:
        value = message.get(re.sub(r"[A-Z]", lambda upper: f"_{upper[0].lower()}", name))
    return value


def text(message: Mapping[str, Any], name: str, path: str) -> str:
    value = get(message, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadField(path, "must be a string")
    if "\0" in value:
        raise BadField(path, nul.REASON)
    return value


def message(parent: Message, name: str, path: str) -> Message | None:
    value = get(parent, name)
    if value is not None and not isinstance(value, dict):
        raise BadField(path, "must be an object")
    return value


def profile_type(value: object, path: str) -> ProfileType:
    """Read an enum value, given by its name or its number."""
    if isinstance(value, str) and value in ProfileType.__members__:
        return ProfileType[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in WIRE_NUMBERS:
        return WIRE_NUMBERS[value]
    allowed = ", ".join(ProfileType)
    raise BadField(path, f"{_quoted(value)} is not a profile type; allowed: {allowed}")


def duration_ns(message: Message, name: str, path: str) -> int | None:
    """Read a google.protobuf.Duration, "10s" or "1.5s", in nanoseconds; None if absent."""
    value = get(message, name)
    if value is None:
        return None
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise BadField(path, f'{_quoted(value)} is not a duration such as "10s"')
    return int(match[1]) * 10**9 + int((match[2] or "").ljust(9, "0"))


def time_ns(message: Message, name: str, path: str) -> int | None:
    """Read a google.protobuf.Timestamp as Unix time in nanoseconds; None if absent.

    Times beyond 64 bits, before 1677 or after 2262, become the earliest or the latest one: Go's
    zero time is in the year 1.
    """
    value = text(message, name, path)
    if not value:
        return None
    nanoseconds = (time(value, path) - _EPOCH) // _MICROSECOND * 1000
    return max(-(2**63), min(nanoseconds, 2**63 - 1))


def time(value: str, path: str) -> datetime:
    """Parse an RFC 3339 time and return it in UTC; the time zone is required."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise BadField(path, f"{_quoted(value)} has no time zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):  # of the years 1 to 9999, in UTC
        raise BadField(path, f"{_quoted(value)} is not an RFC 3339 time") from None


def octets(message: Message, name: str, path: str) -> bytes:
    """Decode base64 of either alphabet, padded or not, from str or bytes; b"" if absent."""
    value = get(message, name)
    encoded = value if isinstance(value, bytes) else text(message, name, path).encode()
    try:
        return _decode(encoded)
    except (ValueError, binascii.Error):
        raise BadField(path, "is not base64") from None


def _decode(encoded: bytes) -> bytes:
    if encoded[-1:] != b"=" and len(encoded) % 4:
        encoded += _PADDING.get(len(encoded) % 4, b"=")  # length 4n + 1 stays invalid
    if b"-" in encoded or b"_" in encoded:
        encoded = encoded.translate(_STANDARD_ALPHABET)
    return pybase64.b64decode(encoded, validate=True)


def _quoted(value: object) -> str:
    """Format a value for an error message, in at most 80 characters.

    Lists and objects are not shown: they may be nested deeper than `repr` can descend.
    """
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return repr(value)[:80]
