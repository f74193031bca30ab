"""Parts of a multipart/form-data body that is in memory already."""

from dataclasses import dataclass, field

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from endpoints.errors import BadRequest

MAX_PARTS = 16
MAX_HEADERS = 8  # of a part
MAX_HEADER_BYTES = 4096  # of a line


def media_type(content_type: str) -> str:
    """Return the media type of a Content-Type header in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def read_parts(body: bytes, content_type: str) -> dict[str, bytes]:
    """Return the content of each part by the name of its field; of equal names, the last.

    Raise BadRequest if the body is malformed or exceeds MAX_PARTS, MAX_HEADERS or
    MAX_HEADER_BYTES.
    """
    boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
    if not boundary:
        raise BadRequest("Content-Type: multipart/form-data has no boundary.")
    collector = _Collector()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": collector.begin_part,
                "on_header_field": collector.add_name,
                "on_header_value": collector.add_value,
                "on_header_end": collector.end_header,
                "on_part_data": collector.add_data,
                "on_part_end": collector.end_part,
                "on_end": collector.finish,
            },
            max_header_count=MAX_HEADERS,
            max_header_size=MAX_HEADER_BYTES,
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise BadRequest(f"The multipart body is malformed: {error}.") from None
    if not collector.is_complete:
        raise BadRequest("The multipart body is incomplete: its last boundary is missing.")
    return collector.parts


@dataclass(slots=True)
class _Collector:
    """Callbacks of the parser; those that add something get a range of the body."""

    parts: dict[str, bytes] = field(default_factory=dict)
    is_complete: bool = False
    _part_count: int = 0
    _field_name: str = ""
    _header: bytearray = field(default_factory=bytearray)
    _value: bytearray = field(default_factory=bytearray)
    _chunks: list[bytes] = field(default_factory=list)

    def begin_part(self) -> None:
        self._part_count += 1
        if self._part_count > MAX_PARTS:
            raise BadRequest(f"The multipart body has more than {MAX_PARTS} parts.")
        self._field_name, self._chunks = "", []

    def add_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            options = parse_options_header(self._value.decode("latin-1"))[1]
            self._field_name = options.get(b"name", b"").decode("utf-8", "replace")
        self._header.clear()
        self._value.clear()

    def add_data(self, data: bytes, start: int, end: int) -> None:
        self._chunks.append(data[start:end])

    def end_part(self) -> None:
        self.parts[self._field_name] = b"".join(self._chunks)
        self._chunks = []

    def finish(self) -> None:
        self.is_complete = True
