"""Slow reference decoder on protobuf, which the compiled decoder must match."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from profiles.engine.calltree.tree import Label, Tree
from profiles.engine.metrics import Metric, is_dropped_when_zero, normalise
from tests.profiles.engine.calltree.reference_ids import frame_id, pair
from tests.profiles.pprof_proto import Profile

Frame = tuple[str, str, int]
Path = tuple[Frame, ...]
Labels = tuple[Label, ...]
UNKNOWN: Frame = ("?", "", 0)


@dataclass
class Meaning:
    """Meaning of a profile, independent of zeros and order."""

    metrics: tuple[Metric, ...]
    own: dict[Path, tuple[int, ...]]
    labelled: dict[tuple[Path, Labels], tuple[int, ...]]
    ids: dict[Path, int]
    totals: tuple[int, ...]
    samples: int


def digest(raw: bytes, profile_type: str) -> Meaning:
    message = Profile.FromString(raw)
    reader = _OracleReader(message)
    kinds = [
        normalise(profile_type, reader.text(kind.type), reader.text(kind.unit))
        for kind in message.sample_type
    ]
    own: dict[Path, list[int]] = defaultdict(lambda: [0] * len(kinds))
    labelled: dict[tuple[Path, Labels], list[int]] = defaultdict(lambda: [0] * len(kinds))
    for sample in message.sample:
        if not any(sample.value):
            continue
        path, labels = reader.path(sample), reader.labels(sample)
        for k, (_, factor) in enumerate(kinds):
            own[path][k] += sample.value[k] * factor
            if labels:
                labelled[path, labels][k] += sample.value[k] * factor
    totals = [sum(row[k] for row in own.values()) for k in range(len(kinds))]
    metric_indexes = [
        k
        for k, (metric, _) in enumerate(kinds)
        if totals[k] or not is_dropped_when_zero(profile_type, metric)
    ] or list(range(len(kinds)))
    return Meaning(
        metrics=tuple(kinds[k][0] for k in metric_indexes),
        own=_pruned(own, metric_indexes),
        labelled=_pruned(labelled, metric_indexes),
        ids=_node_ids(own),
        totals=tuple(totals[k] for k in metric_indexes),
        samples=len(message.sample),
    )


def _node_ids(paths: Iterable[Path]) -> dict[Path, int]:
    """Return the ids of the nodes at the ends of the paths, and of all their callers."""
    ids: dict[Path, int] = {}
    for path in paths:
        node = 0
        for depth, frame in enumerate(path, start=1):
            node = pair(node, frame_id(*frame))
            ids[path[:depth]] = node
    return ids


def join_path(parent: Path | None, frame: Frame) -> Path:
    return (*(parent or ()), frame)


def meaning_of(
    tree: Tree,
    totals: tuple[int, ...],
    samples: int,
    join: Callable[[Any, Frame], Any] = join_path,
) -> Meaning:
    """Return the meaning of a decoded tree.

    `join` makes the path of a node of its parent's, None for a root, and its frame. The default's
    paths take memory with the square of the depth, see `PathNumbers`.
    """
    frames, strings = tree.frames, tree.frames.strings
    of_frame = [
        (strings[name], strings[file], line)
        for name, file, line in zip(
            frames.name.tolist(), frames.file.tolist(), frames.line.tolist(), strict=True
        )
    ]
    paths: list[Any] = []
    for parent, frame in zip(tree.parent.tolist(), tree.frame.tolist(), strict=True):
        paths.append(join(paths[parent] if parent >= 0 else None, of_frame[frame]))
    columns = tree.self.T.tolist()
    labelled: dict[tuple[Any, Labels], list[int]] = {}
    if tree.labelled:
        rows = tree.labelled
        for node, labels, values in zip(
            rows.node.tolist(), rows.label_set.tolist(), rows.values.T.tolist(), strict=True
        ):
            key = (paths[node], rows.label_sets[labels])
            before = labelled.get(key, [0] * len(values))
            labelled[key] = [a + b for a, b in zip(before, values, strict=True)]
    metric_indexes = list(range(len(tree.metrics)))
    return Meaning(
        metrics=tree.metrics,
        own=_pruned(dict(zip(paths, columns, strict=True)), metric_indexes),
        labelled=_pruned(labelled, metric_indexes),
        ids=dict(zip(paths, tree.id.tolist(), strict=True)),
        totals=totals,
        samples=samples,
    )


def _pruned(sums: dict[Any, list[int]], metric_indexes: list[int]) -> dict[Any, tuple[int, ...]]:
    rows = {key: tuple(row[k] for k in metric_indexes) for key, row in sums.items()}
    return {key: row for key, row in rows.items() if any(row)}


def usable(data: bytes) -> str:
    """Replace NUL, which PostgreSQL does not store, and U+0001 alone, whose id is that of ""."""
    text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    return "\ufffd" if text == "\1" else text


class _OracleReader:
    def __init__(self, message: Any) -> None:
        self.strings = [usable(data) for data in message.string_table]
        ids = [function.id for function in message.function]
        if len(ids) == len(message.location) and not any(ids):  # as early profilers of .NET
            ids = [location.id for location in message.location]
        self.functions = dict(zip(ids, message.function, strict=True))
        self.locations = {location.id: location for location in message.location}
        self.mappings = {mapping.id: mapping for mapping in message.mapping}

    def text(self, i: int) -> str:
        return self.strings[i] if i else ""

    def path(self, sample: Any) -> Path:
        frames = [frame for i in sample.location_id for frame in self.frames(self.locations[i])]
        return tuple(reversed(frames)) or (UNKNOWN,)

    def frames(self, location: Any) -> list[Frame]:
        """Return the frames of a location, innermost first."""
        named = []
        for line in location.line:
            function = self.functions[line.function_id] if line.function_id else None
            name = function and (self.text(function.name) or self.text(function.system_name))
            if function and name:
                number = line.line if 0 <= line.line < 2**31 else 0
                named.append((name, self.text(function.filename), number))
        return named or [self.address(location)]

    def address(self, location: Any) -> Frame:
        """Return the frame of a location without a named line."""
        if not location.mapping_id:
            return (f"0x{location.address:x}", "", 0) if location.address else UNKNOWN
        mapping = self.mappings[location.mapping_id]
        build_id = self.text(mapping.build_id)
        is_usable = 0 < len(build_id) < 256 and not set(build_id) & set(" \t\r\n[]")
        file = f"[build-id {build_id}]" if is_usable else ""
        name = self.text(mapping.filename).split("/")[-1] or "?"
        offset = location.address
        if offset >= mapping.memory_start:
            offset = (offset - mapping.memory_start + mapping.file_offset) % 2**64
        return f"{name}+0x{offset:x}" if location.address else name, file, 0

    def labels(self, sample: Any) -> Labels:
        labels = [self.label(label) for label in sample.label if not self.is_trace_link(label)]
        return tuple(sorted(labels, key=lambda label: (label.key, label.value, label.unit or "")))

    def is_trace_link(self, label: Any) -> bool:
        is_id = re.fullmatch("[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?", self.text(label.str))
        return bool(is_id) and self.text(label.key) in {"profile_id", "span_id", "trace_id"}

    def label(self, label: Any) -> Label:
        if label.str or not (label.num or label.num_unit):
            return Label(self.text(label.key), self.text(label.str))
        return Label(self.text(label.key), str(label.num), self.text(label.num_unit))
