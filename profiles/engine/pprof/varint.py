"""Encoding of the protocol buffer fields that pprof uses."""

from collections.abc import Iterable

_BYTES = 2  # wire type of length-delimited fields
_SHORT = tuple(bytes([number]) for number in range(128))


def varint(number: int) -> bytes:
    """Encode a 64-bit number; negative ones as their two's complement."""
    if 0 <= number < len(_SHORT):  # as most are
        return _SHORT[number]
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def int_field(field: int, number: int) -> bytes:
    """Encode a varint field; 0 is the default and encodes to nothing."""
    return varint(field << 3) + varint(number) if number else b""


def bytes_field(field: int, data: bytes) -> bytes:
    """Encode a length-delimited field."""
    return varint(field << 3 | _BYTES) + varint(len(data)) + data


def pack_field(field: int, numbers: Iterable[int]) -> bytes:
    """Encode a packed repeated varint field."""
    return bytes_field(field, b"".join(varint(number) for number in numbers))
