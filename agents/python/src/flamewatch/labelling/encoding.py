"""Encoding of a set of labels as bytes that the sampler reads from a running program. Pure.

The first four bytes are a checksum (Adler-32, because the sampler may read while the bytes are
freed). The name and value of each label follow in UTF-8, all separated by zero bytes.
"""

import zlib
from functools import lru_cache

Labels = tuple[tuple[str, str], ...]

LONGEST_NAME = 64  # characters
LONGEST_VALUE = 200
MOST_LABELS = 8
LARGEST = 1024  # bytes; LABEL_MAX of native/interpreter/positions.h

_SEPARATOR = "\0"
_SUM = 4  # bytes


def encode(labels: Labels) -> bytes:
    """Encode the labels in at most LARGEST bytes.

    The first label that does not fit is dropped, and all later ones.
    """
    pairs: list[bytes] = []
    size = _SUM
    for name, value in labels[:MOST_LABELS]:
        pair = _SEPARATOR.join((name, value)).encode("utf-8", "replace")
        if size + len(pair) + 1 > LARGEST:
            break
        pairs.append(pair)
        size += len(pair) + 1
    text = _SEPARATOR.encode().join(pairs)
    return zlib.adler32(text).to_bytes(_SUM, "little") + text


def decode(data: bytes) -> Labels:
    """Return the labels that `encode` stored, without those that it dropped."""
    text = data[_SUM:].decode("utf-8", "replace")
    parts = text.split(_SEPARATOR) if text else []
    return tuple(zip(parts[::2], parts[1::2], strict=False))


@lru_cache(maxsize=1024)
def extend_labels(data: bytes, more: Labels) -> bytes:
    """Return `data` with more labels, which override earlier ones of the same name.

    Results are cached, because requests repeat the same labels.
    """
    return encode(tuple((dict(decode(data)) | dict(more)).items()))


def make_label(name: object, value: object) -> tuple[str, str]:
    """Convert any two objects to a label, truncated to the longest name and value."""
    return _cut(str(name), LONGEST_NAME), _cut(str(value), LONGEST_VALUE)


def _cut(text: str, longest: int) -> str:
    whole = text.replace(_SEPARATOR, " ")
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"
