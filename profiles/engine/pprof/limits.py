"""How large a profile may be; the fields are named like the settings that set them."""

from dataclasses import dataclass
from typing import NamedTuple

MAX_NAME_BYTES = 4096  # of one string; longer ones are cut and marked, see Strings
MAX_SAMPLE_TYPES = 64  # each is a column of all samples, and a row of the database's JSON
MAX_SAMPLE_TYPE_BYTES = 256  # of a sample type's name, and of its unit
# However small a profile is, it may come to so many bytes when it is decoded.
FREE_EXPANSION_BYTES = 2**20
NODE_BYTES = 8  # that a node of the call tree counts as: its parent and its frame


class Allowed(NamedTuple):
    """A limit that holds for one profile."""

    limit: str  # the setting
    most: int
    counted: str = ""
    raw_size: int = 0

    @property
    def unit(self) -> str:
        """What is counted, for messages; made only where one is needed."""
        return f"{self.counted} of a profile of {self.raw_size:,} bytes" if self.counted else ""


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    max_samples: int = 1_000_000
    max_depth: int = 10_000  # frames in one stack, inlined ones included
    max_nodes: int = 2_000_000  # of the call tree
    max_symbols: int = 1_000_000  # strings, functions, locations, lines: each
    max_sample_labels: int = 500_000  # samples with the same labels count once
    max_total: int = 2**56  # of all values of a metric; 2.3 years in ns, 64 PiB
    max_string_bytes: int = 2**26  # of names and labels, as they are stored
    # Multiple of the raw profile's bytes that its strings, and its nodes, may come to.
    max_expansion: int = 16
    max_stack_frames: int = 100_000_000  # over all stacks: bounds the time a digest takes
    negative: bool = False  # values below zero, as in differences of profiles

    def strings_of(self, raw_size: int) -> Allowed:
        """Bytes of names and labels that a raw profile of this size may have."""
        expanded = self._expanded(raw_size)
        if expanded < self.max_string_bytes:
            return Allowed(_EXPANSION, expanded, "bytes of names and labels", raw_size)
        return Allowed(_STRING_BYTES, self.max_string_bytes)

    def nodes_of(self, raw_size: int) -> Allowed:
        """Nodes that the call tree of a raw profile of this size may have."""
        expanded = self._expanded(raw_size) // NODE_BYTES
        if expanded < self.max_nodes:
            return Allowed(_EXPANSION, expanded, "nodes of the call tree", raw_size)
        return Allowed(_NODES, self.max_nodes)

    def _expanded(self, raw_size: int) -> int:
        return self.max_expansion * raw_size + FREE_EXPANSION_BYTES


def setting(field: str) -> str:
    """The name of the setting behind a field, for messages."""
    return f"FLAMEWATCH_{field.upper()}"


_EXPANSION, _STRING_BYTES = setting("max_expansion"), setting("max_string_bytes")
_NODES = setting("max_nodes")
