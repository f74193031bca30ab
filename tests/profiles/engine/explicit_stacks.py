"""Slow reference for filtering and inverting, with every stack as a list of frames."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from profiles.engine.calltree.filters import Filters
from profiles.engine.calltree.tree import Tree
from tests.profiles.engine.calltree.reference_ids import node_id
from tests.profiles.engine.pprof import oracle
from tests.profiles.engine.pprof.oracle import Frame, Path

Sums = Mapping[Any, tuple[int, ...]]


def stacks_of(tree: Tree) -> tuple[Sums, Sums, dict[Path, int]]:
    """Return values by path, values by (path, labels), and the id of every node."""
    said = oracle.meaning_of(tree, (), 0)
    return said.own, said.labelled, said.ids


def obviously_filtered(tree: Tree, filters: Filters) -> tuple[Sums, Sums, dict[Path, int]]:
    """Return the result of `stacks_of` for the filtered tree."""
    said = oracle.meaning_of(tree, (), 0)
    own, labelled = _sums(), _sums()
    for path, values in said.own.items():
        _add(own, shown(path, filters), values)
    for (path, labels), values in said.labelled.items():
        remaining = shown(path, filters)
        _add(labelled, (remaining, labels) if remaining else None, values)
    return _plain(own), _plain(labelled), ids_of(own)


def ids_of(own: Mapping[Any, object]) -> dict[Path, int]:
    """Return the ids of all nodes on these paths."""
    paths = [path for path in own if isinstance(path, tuple)]
    return {path[:i]: node_id(path[:i]) for path in paths for i in range(1, len(path) + 1)}


def shown(path: Path, filters: Filters) -> Path | None:
    if filters.show and not any(matches(frame, filters.show) for frame in path):
        return None
    if any(matches(frame, filters.hide) for frame in path):
        return None
    path = tuple(frame for frame in path if not matches(frame, filters.hide_frames))
    if filters.show_from:
        starts = [i for i, frame in enumerate(path) if matches(frame, filters.show_from)]
        path = path[starts[0] :] if starts else ()
    return path or None


def matches(frame: Frame, values: tuple[str, ...]) -> bool:
    return any(_matches(text, value) for value in values for text in frame[:2])


def _matches(text: str, value: str) -> bool:
    if len(value) > 2 and value[0] == value[-1] == "/":
        return re.search(value[1:-1], text) is not None
    return value in text


def _sums() -> defaultdict[object, list[int]]:
    return defaultdict(list)


def _add(sums: dict[object, list[int]], key: object, values: tuple[int, ...]) -> None:
    if key is not None:
        before = sums[key] or [0] * len(values)
        sums[key] = [a + b for a, b in zip(before, values, strict=True)]


def _plain(sums: Mapping[object, list[int]]) -> Sums:
    return {key: tuple(values) for key, values in sums.items()}
