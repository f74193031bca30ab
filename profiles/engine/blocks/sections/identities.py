"""Identities of a block's profiles: a section that few queries read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.container import Container
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sections.packed_columns import PackedColumnReader, pack
from profiles.engine.string_table import StringTable


@dataclass(frozen=True, slots=True)
class Identities:
    """Names, body hashes and time sources of a block's P profiles, in the same order."""

    name_id: Sequence[str]  # [P]
    body_hash: tuple[bytes, ...]  # [P]
    time_source: tuple[str, ...]  # [P]

    def take(self, rows: NDArray[np.int64]) -> "Identities":
        """Return the given rows, in this order."""
        indexes = rows.tolist()
        return Identities(
            name_id=tuple(self.name_id[i] for i in indexes),
            body_hash=tuple(self.body_hash[i] for i in indexes),
            time_source=tuple(self.time_source[i] for i in indexes),
        )


def write_identities(identities: Identities) -> bytes:
    names = StringTable.from_strings(identities.name_id)
    sources = sorted(set(identities.time_source))
    columns = [
        np.diff(names.ends, prepend=0),
        np.frombuffer(names.data, np.uint8),
        np.array([len(h) for h in identities.body_hash], np.int64),
        np.frombuffer(b"".join(identities.body_hash), np.uint8),
        np.array([sources.index(source) for source in identities.time_source], np.int64),
    ]
    return pack({"sources": sources}, columns)


def read_names(container: Container, count: int) -> StringTable:
    """Read the names of the section `identities`, which must have `count` profiles."""

    def decode(columns: PackedColumnReader) -> Arrays:
        names = StringTable.from_strings(read_identities(columns, count).name_id)
        return np.frombuffer(names.data, np.uint8), names.ends

    data, ends = container.read("identities", decode).arrays
    return StringTable(data.data, ends)


def read_identities(columns: PackedColumnReader, count: int) -> Identities:
    """Read the section `identities`, which must have `count` profiles."""
    sources = [str(source) for source in columns.head["sources"]]
    ends = columns.starts()[1:]
    names = StringTable(columns.data(), ends)
    starts = columns.starts()
    hashes = columns.data()
    source = columns.index(len(sources), count)
    if not len(ends) == len(starts) - 1 == count:
        raise ValueError("columns of a table differ in length")
    if count and (int(ends[-1]) != len(names.data) or int(starts[-1]) != len(hashes)):
        raise ValueError("name lengths do not match the data")
    cuts = starts.tolist()
    return Identities(
        name_id=names,
        body_hash=tuple(hashes[cuts[i] : cuts[i + 1]] for i in range(count)),
        time_source=tuple(sources[i] for i in source.tolist()),
    )
