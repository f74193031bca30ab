"""Attributes of OTLP: keys with values of any type, converted to text."""

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from profiles.engine.errors import BadProfile

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_LONGEST = 4096  # characters of a value
_MOST_ELEMENTS = 32  # of a list; the rest is left out
_MOST_LEVELS = 4  # of lists in lists
_MOST_FIELDS = 64  # of one message: above any attribute that is read to its end

Field = tuple[int, int | bytes]  # number; varint, or the bytes of any other wire type
StringAt = Callable[[int], str]


class Attribute(NamedTuple):
    key: str
    value: str
    unit: str = ""


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a small message in their order.

    Raise `BadProfile` if it is malformed, or if more than 64 fields are read.
    """
    offset, size, count = 0, len(message), 0
    while offset < size:
        count += 1
        if count > _MOST_FIELDS:
            raise BadProfile(f"An attribute has more than {_MOST_FIELDS} fields.")
        tag, offset = _varint(message, offset)
        wire_type = tag & 7
        if wire_type == _VARINT:
            value, offset = _varint(message, offset)
            yield tag >> 3, value
            continue
        length = {_FIXED64: 8, _FIXED32: 4}.get(wire_type)
        if wire_type == _BYTES:
            length, offset = _varint(message, offset)
        if length is None or length > size - offset:
            raise BadProfile("An attribute is malformed: it ends within a field.")
        yield tag >> 3, message[offset : offset + length]
        offset += length


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return the number at `offset`, below 2**64, and the position after it."""
    value = 0
    for shift in range(0, 64, 7):
        if offset >= len(data):
            break
        byte = data[offset]
        offset += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), offset
    raise BadProfile("An attribute is malformed: it ends within a number.")


def key_value(message: bytes, string_at: StringAt) -> Attribute:
    """Read a KeyValue, whose key is a text or, from OTLP 1.10 on, an index of a string."""
    key = value = ""
    for number, content in fields(message):
        if number == 1 and isinstance(content, bytes):
            key = text(content)
        elif number == 3 and isinstance(content, int):
            key = string_at(content)
        elif number == 2 and isinstance(content, bytes):
            value = any_value(content, string_at)
    return Attribute(key, value)


def key_value_and_unit(message: bytes, string_at: StringAt) -> Attribute:
    """Read a KeyValueAndUnit, whose key and unit are indexes of strings."""
    key = value = unit = ""
    for number, content in fields(message):
        if number == 1 and isinstance(content, int):
            key = string_at(content)
        elif number == 3 and isinstance(content, int):
            unit = string_at(content)
        elif number == 2 and isinstance(content, bytes):
            value = any_value(content, string_at)
    return Attribute(key, value, unit)


def has_indexes(message: bytes) -> bool:
    """Return True if a KeyValue points into the table of strings, as from OTLP 1.10 on."""
    return any(
        (number == 3 and isinstance(content, int))
        or (number == 2 and isinstance(content, bytes) and any(n == 8 for n, _ in fields(content)))
        for number, content in fields(message)
    )


def any_value(message: bytes, string_at: StringAt, level: int = 0) -> str:
    """Return an AnyValue as text, cut to 4,096 characters; lists are joined by commas."""
    value = ""
    for number, content in fields(message):
        if isinstance(content, int):
            value = _format_scalar(number, content, string_at)
        elif number == 1:
            value = text(content)
        elif number == 4 and len(content) == 8:
            value = f"{struct.unpack('<d', content)[0]:g}"
        elif number in (5, 6):
            value = _join_values(number, content, string_at, level + 1)
        elif number == 7:
            value = content[: _LONGEST // 2].hex()
    return value[:_LONGEST]


def _format_scalar(number: int, content: int, string_at: StringAt) -> str:
    if number == 2:
        return "true" if content else "false"
    if number == 3:
        return str(content - 2**64 if content >= 2**63 else content)
    return string_at(content) if number == 8 else ""


def _join_values(number: int, message: bytes, string_at: StringAt, level: int) -> str:
    """Join the elements of an ArrayValue (5) or the pairs of a KeyValueList (6)."""
    if level > _MOST_LEVELS:
        return "…"
    elements: list[str] = []
    for field, content in fields(message):
        if field != 1 or not isinstance(content, bytes):
            continue
        if len(elements) == _MOST_ELEMENTS:
            elements.append("…")
            break
        elements.append(_element(number, content, string_at, level))
    return ", ".join(elements)


def _element(number: int, message: bytes, string_at: StringAt, level: int) -> str:
    if number == 5:
        return any_value(message, string_at, level)
    key = value = ""
    for field, content in fields(message):
        if field == 1 and isinstance(content, bytes):
            key = text(content)
        elif field == 3 and isinstance(content, int):
            key = string_at(content)
        elif field == 2 and isinstance(content, bytes):
            value = any_value(content, string_at, level)
    return f"{key}={value}"


def text(data: bytes) -> str:
    """Decode UTF-8; what is invalid, and NUL, which databases reject, become U+FFFD."""
    return data[:_LONGEST].decode("utf-8", "replace").replace("\0", "\ufffd")
