"""A set of labels as bytes, as the sampler reads them out of a running program. Pure.

Four bytes of checksum (Adler-32: the sampler may read while the bytes are freed), then each label's
name and value in UTF-8, all separated by zero bytes.
"""

import zlib
from functools import lru_cache

Labels = tuple[tuple[str, str], ...]

LONGEST_NAME = 64  # characters
LONGEST_VALUE = 200
MOST_LABELS = 8
LARGEST = 1024  # bytes; LABEL_MAX of native/walk.h

_SEPARATOR = "\0"
_SUM = 4  # bytes


def encode(labels: Labels) -> bytes:
    """At most LARGEST bytes: later labels are left out if they don't fit."""
    kept: list[bytes] = []
    size = _SUM
    for name, value in labels[:MOST_LABELS]:
        pair = _SEPARATOR.join((name, value)).encode("utf-8", "replace")
        if size + len(pair) + 1 > LARGEST:
            break
        kept.append(pair)
        size += len(pair) + 1
    text = _SEPARATOR.encode().join(kept)
    return zlib.adler32(text).to_bytes(_SUM, "little") + text


def decode(data: bytes) -> Labels:
    """What `encode` was given, as far as it fitted."""
    text = data[_SUM:].decode("utf-8", "replace")
    parts = text.split(_SEPARATOR) if text else []
    return tuple(zip(parts[::2], parts[1::2], strict=False))


@lru_cache(maxsize=1024)
def extended(data: bytes, more: Labels) -> bytes:
    """`data` and more labels: those that come later win. Kept, for requests repeat themselves."""
    return encode(tuple((dict(decode(data)) | dict(more)).items()))


def bounded(name: object, value: object) -> tuple[str, str]:
    """Any two objects as a label."""
    return _cut(str(name), LONGEST_NAME), _cut(str(value), LONGEST_VALUE)


def _cut(text: str, longest: int) -> str:
    whole = text.replace(_SEPARATOR, " ")
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"
