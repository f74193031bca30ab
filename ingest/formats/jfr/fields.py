"""Encoded fields of JFR: varints, fixed numbers, strings and arrays.

Values of a type are encoded one after another, without tags; the metadata of a chunk says which
fields a type has. Functions raise IndexError for data that ends too early.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile

Value = int | str | bytes
_SKIPPED_AT_ONCE = 64  # varints
_NULL, _EMPTY, _CONSTANT, _UTF8, _CHARACTERS, _LATIN1 = range(6)


class FieldEncoding(IntEnum):
    """Encoding of a field without parts."""

    VARINT = 0  # every integer of 2 to 8 bytes, and keys of constants
    BYTE = 1
    FLOAT = 2
    DOUBLE = 3
    STRING = 4


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Array whose elements have these fields."""

    fields: tuple["FieldEncoding | ArrayOf", ...]


Field = FieldEncoding | ArrayOf


def read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return an unsigned number of at most 64 bits, and the position after it.

    A ninth byte has eight bits of the number, those before it seven each.
    """
    byte = data[offset]
    offset += 1
    if byte < 0x80:
        return byte, offset
    number, shift = byte & 0x7F, 7
    while shift < 56:
        byte = data[offset]
        offset += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, offset
        shift += 7
    return number | data[offset] << 56, offset + 1


def to_signed(number: int) -> int:
    """Return the value of a 64-bit number in two's complement."""
    return number - 2**64 if number >= 2**63 else number


def read_fields(
    fields: Sequence[Field], data: bytes, offset: int, budget: WorkBudget
) -> tuple[list[Value], int]:
    """Return the values of fields, and the position after them.

    Numbers with a fraction are 0, because no profile uses them. A string that is a constant is its
    key, an integer. An array is its elements as they are encoded.
    """
    budget.spend(Work.VALUES, 1 + len(fields))
    values: list[Value] = []
    for field in fields:
        value: Value
        if field is FieldEncoding.VARINT:
            value = data[offset]
            offset += 1
            if value >= 0x80:
                value, offset = read_varint(data, offset - 1)
        elif field is FieldEncoding.BYTE:
            value = data[offset]
            offset += 1
        elif field is FieldEncoding.STRING:
            value, offset = read_string(data, offset, budget)
        elif isinstance(field, ArrayOf):
            start = offset
            offset = _after_array(field.fields, data, offset, budget)
            value = data[start:offset]
        else:
            value = 0
            offset += 4 if field is FieldEncoding.FLOAT else 8
        values.append(value)
    if offset > len(data):
        raise IndexError
    return values, offset


def read_string(data: bytes, offset: int, budget: WorkBudget) -> tuple[str | int, int]:
    """Return a string, or the key of a constant string, and the position after it."""
    encoding = data[offset]
    offset += 1
    if encoding in (_NULL, _EMPTY):
        return "", offset
    size, offset = read_varint(data, offset)
    if encoding == _CONSTANT:
        return size, offset
    if size > len(data) - offset:
        raise IndexError
    budget.spend(Work.NAME_BYTES, size)
    if encoding == _UTF8:
        return data[offset : offset + size].decode("utf-8", "replace"), offset + size
    if encoding == _LATIN1:
        return data[offset : offset + size].decode("latin-1"), offset + size
    if encoding != _CHARACTERS:
        raise BadProfile(f"The recording has a string with the unknown encoding {encoding}.")
    units = bytearray()
    for _ in range(size):
        unit, offset = read_varint(data, offset)
        units += (unit & 0xFFFF).to_bytes(2, "little")
    return units.decode("utf-16-le", "replace"), offset


def _after_array(fields: Sequence[Field], data: bytes, offset: int, budget: WorkBudget) -> int:
    """Return the position after an array: its length, then its elements."""
    length, offset = read_varint(data, offset)
    if length > len(data) - offset:
        raise IndexError
    if all(field is FieldEncoding.VARINT for field in fields):
        return _after_varints(length * len(fields), data, offset)
    for _ in range(length):
        _, offset = read_fields(fields, data, offset, budget)
    return offset


def _after_varints(count: int, data: bytes, offset: int) -> int:
    """Return the position after `count` varints: stack traces are millions of them."""
    while count > 0:
        step = min(count, _SKIPPED_AT_ONCE)
        found = _varints(step).match(data, offset)
        if found is None:
            raise IndexError
        offset, count = found.end(), count - step
    return offset


@cache
def _varints(count: int) -> re.Pattern[bytes]:
    return re.compile(rb"(?>[\x80-\xff]{0,8}[\x00-\xff])" * count)
