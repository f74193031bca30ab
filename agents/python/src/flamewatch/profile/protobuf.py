"""Subset of protobuf's wire format that pprof needs: numbers, bytes and packed numbers."""

from collections.abc import Iterable

_SMALL = [bytes((value,)) for value in range(128)]
_64_BITS = (1 << 64) - 1
_NUMBER, _BYTES = 0, 2  # wire types


def varint(value: int) -> bytes:
    """Encode seven bits per byte, lowest first; negative numbers in two's complement."""
    if 0 <= value < 128:
        return _SMALL[value]
    value &= _64_BITS
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """Encode a number field. Zero is omitted, because it is the default of an absent field."""
    return varint(field << 3 | _NUMBER) + varint(value) if value else b""


def octets(field: int, value: bytes) -> bytes:
    """Encode a bytes field: a string, a message, packed numbers. Empty ones are written too."""
    return varint(field << 3 | _BYTES) + varint(len(value)) + value


def pack_numbers(field: int, values: Iterable[int]) -> bytes:
    return octets(field, b"".join(map(varint, values)))
