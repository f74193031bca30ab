"""Protobuf messages of uploads: the profile as one long field, and a small message around it.

The profile is cut out before the rest is parsed, so that the parser never gets more than
MAX_REST_BYTES, whatever the size of the message: 16 MiB of labels would take many seconds and
several hundred MB.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from endpoints.errors import BadRequest

# Enough for names, labels, a deployment and an update mask, several times over.
MAX_REST_BYTES = 16 * 2**10
# Finding 1,000 fields takes 2 ms.
MAX_FIELDS = 1000

_PROFILE_BYTES = 5  # field number in Profile
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_MAX_VARINT_BYTES = 10


@dataclass(frozen=True, slots=True)
class UploadMessage:
    """Message of an upload, in three parts."""

    profile_bytes: bytes
    profile: bytes  # serialized Profile without profile_bytes
    rest: bytes  # serialized message without its profile


def split(message: bytes, profile_field: int) -> UploadMessage:
    """Cut the bytes of the profile out of a message whose field `profile_field` is a Profile.

    Raise BadRequest for damaged messages, for more than MAX_FIELDS, and if more than MAX_REST_BYTES
    remain. Fields that occur again count as in protobuf: messages are merged, of other values the
    last one counts.
    """
    profile_bytes = b""
    profile, rest = bytearray(), bytearray()
    view, allowed = memoryview(message), iter(range(MAX_FIELDS))
    for number, wire_type, field, value in _fields(view, allowed):
        if number != profile_field or wire_type != _BYTES:
            _append(rest, field, len(profile))
            continue
        for inner_number, inner_type, inner_field, inner_value in _fields(value, allowed):
            if inner_number == _PROFILE_BYTES and inner_type == _BYTES:
                profile_bytes = bytes(inner_value)
            else:
                _append(profile, inner_field, len(rest))
    return UploadMessage(profile_bytes, bytes(profile), bytes(rest))


def _append(part: bytearray, field: memoryview, size_of_other: int) -> None:
    size = len(part) + len(field) + size_of_other
    if size > MAX_REST_BYTES:
        raise BadRequest(
            f"The message around profile_bytes may have {MAX_REST_BYTES:,} bytes; here are at "
            f"least {size:,}. Send only the fields of the API beside the profile."
        )
    part += field


def _fields(
    message: memoryview, allowed: Iterator[int]
) -> Iterator[tuple[int, int, memoryview, memoryview]]:
    """Yield the number, wire type, whole encoding and value of each field.

    Take an item of `allowed` for each; raise BadRequest if none is left.
    """
    start = 0
    while start < len(message):
        if next(allowed, None) is None:
            raise BadRequest(f"A message may have {MAX_FIELDS:,} fields.")
        tag, position = _varint(message, start)
        number, wire_type = tag >> 3, tag & 7
        begin = position
        if wire_type == _VARINT:
            _value, position = _varint(message, position)
        elif wire_type == _BYTES:
            length, begin = _varint(message, position)
            position = begin + length
        elif wire_type in {_FIXED64, _FIXED32}:
            position += 8 if wire_type == _FIXED64 else 4
        else:
            raise _damage_error()
        if number == 0 or position > len(message):
            raise _damage_error()
        yield number, wire_type, message[start:position], message[begin:position]
        start = position


def _varint(message: memoryview, start: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    value = 0
    for count, byte in enumerate(message[start : start + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, start + count + 1
    raise _damage_error()


def _damage_error() -> BadRequest:
    return BadRequest("The message is not valid protobuf.")
