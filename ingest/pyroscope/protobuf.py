"""Fields of protocol buffer messages, for the few small messages that Pyroscope's clients send."""

from collections.abc import Iterator

from endpoints.errors import BadRequest

MAX_FIELDS = 200_000  # of a request, in all messages: about a quarter of a second
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_MAX_VARINT_BYTES = 10


class MessageReader:
    """Reads the fields of a message and of messages in it, up to MAX_FIELDS."""

    def __init__(self) -> None:
        self._fields = 0

    def fields(self, message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
        """Yield the number and value of each field: an integer, or the bytes of what has a length.

        Numbers of fixed size are skipped. Raise BadRequest for malformed bytes and above
        MAX_FIELDS.
        """
        offset, size = 0, len(message)
        while offset < size:
            self._fields += 1
            if self._fields > MAX_FIELDS:
                raise BadRequest(f"The message has more than {MAX_FIELDS:,} fields.")
            tag, offset = _read_varint(message, offset)
            wire_type, number = tag & 7, tag >> 3
            if wire_type in _FIXED:
                offset += _FIXED[wire_type]
            elif wire_type == _VARINT:
                value, offset = _read_varint(message, offset)
                yield number, value
            elif wire_type == _BYTES:
                length, offset = _read_varint(message, offset)
                if length > size - offset:
                    raise BadRequest("The protocol buffer message is truncated.")
                yield number, message[offset : offset + length]
                offset += length
            else:
                raise BadRequest(f"Not a protocol buffer message: wire type {wire_type}.")
        if offset > size:
            raise BadRequest("The protocol buffer message is truncated.")

    def messages(self, message: memoryview, number: int) -> Iterator[memoryview]:
        """Yield the messages, strings or bytes in the fields with this number."""
        for found, value in self.fields(message):
            if found == number and isinstance(value, memoryview):
                yield value


def text(value: memoryview) -> str:
    """Decode a string; invalid UTF-8 is replaced."""
    return bytes(value).decode("utf-8", "replace")


def _read_varint(message: memoryview, offset: int) -> tuple[int, int]:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if offset >= len(message):
            raise BadRequest("The protocol buffer message is truncated.")
        byte = message[offset]
        value |= (byte & 0x7F) << 7 * index
        offset += 1
        if byte < 0x80:
            return value & (2**64 - 1), offset
    raise BadRequest("Not a protocol buffer message: a number has more than 10 bytes.")
