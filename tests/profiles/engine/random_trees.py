"""Random call trees, and their meaning independent of the order of nodes."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from tests.profiles.engine.pprof import oracle
from tests.profiles.engine.pprof.random_pprofs import messages
from tests.profiles.pprofs import Stacks, pprof

Values = dict[str, int]
ANY_TOTAL = DecodeLimits(max_total=2**63 - 1)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Draw a tree with lines, mappings, sample labels and several metrics."""
    return decode_profile(draw(messages()).SerializeToString(), "CPU", ANY_TOTAL).tree


def folded() -> st.SearchStrategy[Stacks]:
    """Draw folded stacks of few names, so that they overlap."""
    stack = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(";".join)
    return st.dictionaries(stack, st.integers(1, 100), max_size=12)


def tree_of(stacks: Stacks) -> Tree:
    raw = pprof(stacks, sample_types=[("cpu", "nanoseconds")])
    return decode_profile(raw, "CPU", ANY_TOTAL).tree


class PathNumbers:
    """Paths as numbers, the same for all trees that use it, in memory with the number of nodes."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int | None, oracle.Frame], int] = {}

    def join(self, parent: int | None, frame: oracle.Frame) -> int:
        return self._numbers.setdefault((parent, frame), len(self._numbers))


def meaning(
    tree: Tree, join: Callable[[Any, oracle.Frame], Any] = oracle.join_path
) -> Mapping[object, object]:
    """Return self values by (metric, path), labels, ids and mappings, without zeros."""
    said = oracle.meaning_of(tree, (), 0, join)
    strings = tree.frames.strings
    return {
        "own": {
            (metric, path): row[k]
            for path, row in said.own.items()
            for k, metric in enumerate(said.metrics)
            if row[k]
        },
        "labelled": {
            (metric, *key): row[k]
            for key, row in said.labelled.items()
            for k, metric in enumerate(said.metrics)
            if row[k]
        },
        "ids": said.ids,
        "mappings": {
            frame_id: strings[mapping]
            for frame_id, mapping in zip(
                tree.frames.id.tolist(), tree.frames.mapping.tolist(), strict=True
            )
        },
    }
