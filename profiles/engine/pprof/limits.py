"""Limits on the size of a profile, each with the name of its setting, and labels left out."""

from dataclasses import dataclass
from typing import NamedTuple

MAX_NAME_BYTES = 4096  # of one string; longer strings are truncated and marked, see Strings
MAX_SAMPLE_TYPES = 64  # each is a column of values, and a row of the database's JSON
MAX_SAMPLE_TYPE_BYTES = 256  # of a sample type's name, and of its unit
# Sample labels that Pyroscope's clients write for span profiles. With an id as their value they are
# left out: each value has samples of its own, and nothing reads them.
TRACE_KEYS = (b"profile_id", b"span_id", b"trace_id")
TRACE_KEY_MARK, TRACE_ID_MARK = 1, 2  # of strings, see ProfileStrings.mark_trace_links
# Bytes to which any profile may expand when decoded, however small it is.
FREE_EXPANSION_BYTES = 2**20
NODE_BYTES = 8  # counted per node of the call tree: its parent and its frame


class Allowed(NamedTuple):
    """Limit for one profile."""

    limit: str  # name of the setting
    most: int
    counted: str = ""
    raw_size: int = 0

    @property
    def unit(self) -> str:
        """Return the counted unit for error messages; a property, as it is rarely needed."""
        return f"{self.counted} of a profile of {self.raw_size:,} bytes" if self.counted else ""


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """Limits on one profile; the defaults are those of the settings."""

    max_samples: int = 1_000_000
    max_depth: int = 10_000  # frames in one stack, including inlined ones
    max_nodes: int = 2_000_000  # nodes of the call tree
    max_symbols: int = 1_000_000  # strings, functions, locations and lines, of each
    max_sample_labels: int = 500_000  # samples with equal labels count once
    max_total: int = 2**56  # sum of all values of a metric; 2.3 years in ns, 64 PiB
    max_string_bytes: int = 2**26  # bytes of names and labels as stored
    # Factor on the raw profile's bytes that limits its strings, and its nodes.
    max_expansion: int = 16
    max_stack_frames: int = 100_000_000  # over all stacks: limits the time to decode
    negative: bool = False  # allow negative values, as in differences of profiles

    def compute_string_limit(self, raw_size: int) -> Allowed:
        """Return the limit on the bytes of names and labels of a raw profile of this size."""
        expanded = self._compute_expansion(raw_size)
        if expanded < self.max_string_bytes:
            return Allowed(_EXPANSION, expanded, "bytes of names and labels", raw_size)
        return Allowed(_STRING_BYTES, self.max_string_bytes)

    def compute_node_limit(self, raw_size: int) -> Allowed:
        """Return the limit on the nodes of the call tree of a raw profile of this size."""
        expanded = self._compute_expansion(raw_size) // NODE_BYTES
        if expanded < self.max_nodes:
            return Allowed(_EXPANSION, expanded, "nodes of the call tree", raw_size)
        return Allowed(_NODES, self.max_nodes)

    def _compute_expansion(self, raw_size: int) -> int:
        return self.max_expansion * raw_size + FREE_EXPANSION_BYTES


def setting(field: str) -> str:
    """Return the name of a field's setting, for error messages."""
    return f"FLAMEWATCH_{field.upper()}"


_EXPANSION, _STRING_BYTES = setting("max_expansion"), setting("max_string_bytes")
_NODES = setting("max_nodes")
