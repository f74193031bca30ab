"""Fields of protobuf messages, so that a changed field gets a tag and a length that fit."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.ingest.pprof import varint

_VARINT, _BYTES = 0, 2


class WireField(NamedTuple):
    """Field of a message; fixed-size numbers are not supported, as pprof has none."""

    number: int
    value: int | bytes


def split_fields(data: bytes) -> list[WireField] | None:
    """Return the fields of a message; None if the bytes are not a message."""
    fields, at = [], 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag is None:
            return None
        value, at = _read_varint(data, at)
        if value is None or tag >> 3 == 0:
            return None
        if tag & 7 == _BYTES and at + value <= len(data):
            fields.append(WireField(tag >> 3, data[at : at + value]))
            at += value
        elif tag & 7 == _VARINT:
            fields.append(WireField(tag >> 3, value))
        else:
            return None
    return fields


def join_fields(fields: Sequence[WireField]) -> bytes:
    return b"".join(
        varint(number << 3 | _BYTES) + varint(len(value)) + value
        if isinstance(value, bytes)
        else varint(number << 3) + varint(value)
        for number, value in fields
    )


def _read_varint(data: bytes, at: int) -> tuple[int | None, int]:
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(data):
            break
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value % 2**64, at
    return None, at
