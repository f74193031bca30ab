"""The wire of protocol buffers, as far as pprof needs it."""

from collections.abc import Iterable

_BYTES = 2  # the wire type of what has a length


def varint(number: int) -> bytes:
    """A number of 64 bits; negative ones as their two's complement."""
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def int_field(field: int, number: int) -> bytes:
    """Nothing for 0, the default."""
    return varint(field << 3) + varint(number) if number else b""


def bytes_field(field: int, data: bytes) -> bytes:
    return varint(field << 3 | _BYTES) + varint(len(data)) + data


def packed_field(field: int, numbers: Iterable[int]) -> bytes:
    return bytes_field(field, b"".join(varint(number) for number in numbers))
