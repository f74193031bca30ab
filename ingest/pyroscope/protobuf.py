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
        at, size = 0, len(message)
        while at < size:
            self._fields += 1
            if self._fields > MAX_FIELDS:
                raise BadRequest(f"The message has more than {MAX_FIELDS:,} fields.")
            tag, at = _read_varint(message, at)
            wire_type, number = tag & 7, tag >> 3
            if wire_type in _FIXED:
                at += _FIXED[wire_type]
            elif wire_type == _VARINT:
                value, at = _read_varint(message, at)
                yield number, value
            elif wire_type == _BYTES:
                length, at = _read_varint(message, at)
                if length > size - at:
                    raise BadRequest("The protocol buffer message is truncated.")
                yield number, message[at : at + length]
                at += length
            else:
                raise BadRequest(f"Not a protocol buffer message: wire type {wire_type}.")
        if at > size:
            raise BadRequest("The protocol buffer message is truncated.")

    def messages(self, message: memoryview, number: int) -> Iterator[memoryview]:
        """Yield the messages, strings or bytes in the fields with this number."""
        for found, value in self.fields(message):
            if found == number and isinstance(value, memoryview):
                yield value


def text(value: memoryview) -> str:
    """Decode a string; invalid UTF-8 is replaced."""
    return bytes(value).decode("utf-8", "replace")


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if at >= len(message):
            raise BadRequest("The protocol buffer message is truncated.")
        byte = message[at]
        value |= (byte & 0x7F) << 7 * index
        at += 1
        if byte < 0x80:
            return value & (2**64 - 1), at
    raise BadRequest("Not a protocol buffer message: a number has more than 10 bytes.")
