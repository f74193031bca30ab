"""Stored formats without their compression and checksums, which mutated bytes never pass.

A fuzz input is a list of named sections. `seal_…` returns the stored bytes of it, with good
checksums, and `open_…` the fuzz input of stored bytes.
"""

from collections.abc import Iterable, Iterator, Mapping

import orjson

from profiles.engine.blocks.sections import container
from profiles.engine.blocks.sections.container import Container
from profiles.engine.encoding import codec
from profiles.engine.encoding.compression import CHECKSUM_BYTES, checksum, compress, decompress

_NAME, _SIZE = 1, 4  # bytes of a section's lengths
_ALIGNMENT = 8  # of the buffers of a result
_HEAD_SIZE = 4  # bytes of the length of a header before columns, little-endian
KIND, DIRECTORY, HEADER = "kind", "directory", ".head"

Section = tuple[str, bytes]


def join_sections(sections: Iterable[Section]) -> bytes:
    return b"".join(
        len(name).to_bytes(_NAME) + name.encode() + len(data).to_bytes(_SIZE) + data
        for name, data in sections
    )


def split_sections(data: bytes) -> Iterator[Section]:
    """Yield the sections of an input; any bytes are a list of sections."""
    while data:
        name, data = _piece(data, _NAME)
        body, data = _piece(data, _SIZE)
        yield name.decode("ascii", "ignore"), body


def _piece(data: bytes, width: int) -> tuple[bytes, bytes]:
    end = width + int.from_bytes(data[:width])
    return data[width:end], data[end:]


def _separate_header(name: str, section: bytes) -> Iterator[Section]:
    """Yield the header of a section with columns, and its columns."""
    end = _HEAD_SIZE + int.from_bytes(section[:_HEAD_SIZE], "little")
    yield f"{name}{HEADER}", section[_HEAD_SIZE:end]
    yield name, section[end:]


def _with_header(sections: Mapping[str, bytes], name: str) -> bytes:
    head = sections.get(f"{name}{HEADER}", b"")
    return len(head).to_bytes(_HEAD_SIZE, "little") + head + sections.get(name, b"")


def seal_tree(data: bytes) -> bytes:
    """Return the stored tree of an input."""
    sections = dict(split_sections(data))
    numbers, texts = (compress(_with_header(sections, name)) for name in ("numbers", "texts"))
    body = len(numbers).to_bytes(4, "little") + numbers + texts
    return codec.MAGIC + checksum(body).to_bytes(CHECKSUM_BYTES, "little") + body


def open_tree(stored: bytes) -> bytes:
    """Return the fuzz input of a stored tree."""
    frames = codec._check(stored)
    return join_sections(
        [
            *_separate_header("numbers", decompress(frames.numbers)),
            *_separate_header("texts", decompress(frames.texts)),
        ]
    )


def seal_block(data: bytes) -> bytes:
    """Return the block of an input. Raise `ValueError` if its directory is not a JSON object."""
    sections = dict(split_sections(data))
    kind, head = sections.pop(KIND, b""), orjson.loads(sections.pop(DIRECTORY, b"{}"))
    if not isinstance(head, dict) or len(kind) != 1:
        raise ValueError("an input without the directory of a block")
    names = [name for name in sections if not name.endswith(HEADER)]
    bodies = {name: _with_header(sections, name) for name in names}
    writer = container.SectionWriter(compression_level=1)
    writer.add_all(bodies)
    return writer.encode(kind, head)


def open_block(stored: bytes) -> bytes:
    """Return the fuzz input of a block."""
    kind = stored[2:3]
    opened = Container(stored, kind)
    head = {name: value for name, value in opened.head.items() if name != "sections"}
    bodies = [
        section
        for name in opened.head["sections"]
        for section in _separate_header(name, decompress(opened._frame(name)))
    ]
    return join_sections([(KIND, kind), (DIRECTORY, orjson.dumps(head)), *bodies])


def seal_result(data: bytes) -> bytes:
    """Return the encoded result of an input."""
    sections = dict(split_sections(data))
    header = sections.get(HEADER, b"")
    padding = bytes(-len(header) % _ALIGNMENT)
    size = len(header).to_bytes(_ALIGNMENT, "little")
    return compress(size + header + padding + sections.get("buffers", b""))


def open_result(stored: bytes) -> bytes:
    """Return the fuzz input of an encoded result."""
    body = decompress(stored)
    end = _ALIGNMENT + int.from_bytes(body[:_ALIGNMENT], "little")
    return join_sections(
        [(HEADER, body[_ALIGNMENT:end]), ("buffers", body[end + -end % _ALIGNMENT :])]
    )
