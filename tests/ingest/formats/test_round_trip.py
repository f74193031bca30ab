"""Exports of Flamewatch, imported again: the same stacks, values and metrics."""

from collections import Counter

import pytest

from ingest.formats.detect import FileFormat, import_file
from ingest.formats.import_options import ImportOptions
from profiles.engine.calltree.stacks import list_stacks
from profiles.engine.calltree.tree import Tree
from profiles.engine.exports import folded, speedscope
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from projects.profile_types import ProfileType
from tests.ingest.formats.imported import decoded
from tests.paths import SAMPLES

TYPES = {
    "go-cpu": ProfileType.CPU,
    "go-heap": ProfileType.HEAP,
    "go-mutex": ProfileType.CONTENTION,
    "node-heap": ProfileType.HEAP,
    "python-wall": ProfileType.WALL,
}
MAX_RAW = 2**26


def tree_of(name: str) -> Tree:
    raw = import_file((SAMPLES / f"{name}.pb.gz").read_bytes(), ImportOptions(), MAX_RAW)
    return decoded(raw.profiles[0]).tree


def lined_stacks(tree: Tree, metric: int) -> Counter[tuple[tuple[str, str, int], ...]]:
    """Return the values of stacks of (function, file, line)."""
    text, frames = tree.frames.strings, tree.frames
    columns = (frames.name.tolist(), frames.file.tolist(), frames.line.tolist())
    rows = [(text[name], text[file], line) for name, file, line in zip(*columns, strict=True)]
    sums: Counter[tuple[tuple[str, str, int], ...]] = Counter()
    for stack, value in list_stacks(tree, metric):
        sums[tuple(rows[frame] for frame in stack)] += value
    return sums


@pytest.mark.parametrize("name", TYPES)
def test_speedscope_keeps_stacks_lines_values_and_metrics(name: str) -> None:
    tree = tree_of(name)
    file = import_file(speedscope.encode(tree), ImportOptions(), MAX_RAW)
    assert file.format is FileFormat.SPEEDSCOPE
    [profile] = file.profiles
    again = decoded(profile).tree
    assert profile.type is TYPES[name]
    assert set(again.metrics) == set(tree.metrics)
    for metric in tree.metrics:
        numbers = tree.metrics.index(metric), again.metrics.index(metric)
        assert lined_stacks(again, numbers[1]) == lined_stacks(tree, numbers[0])


@pytest.mark.parametrize("name", TYPES)
def test_folded_stacks_stay_the_same(name: str) -> None:
    tree, type = tree_of(name), TYPES[name]
    metric = Metric(*DEFAULT_METRICS[type])
    text = folded.encode(tree, tree.metrics.index(metric))
    options = ImportOptions(type, metric.unit)
    [profile] = import_file(text.encode(), options, MAX_RAW, FileFormat.FOLDED).profiles
    again = decode_profile(profile.pprof, type, DecodeLimits()).tree
    assert again.metrics == (metric,)
    assert folded.encode(again) == text
