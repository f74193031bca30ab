"""Real profiles captured by this project: decoded like the reference, stored and merged."""

import pytest

from profiles.engine.accumulators.merge import merge
from profiles.engine.calltree.top import top
from profiles.engine.encoding.codec import decode, encode
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.gunzip import gunzip
from tests.paths import SAMPLES
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.pprof import oracle
from tests.profiles.engine.random_trees import meaning

TYPES = {
    "go-cpu": "CPU",
    "go-heap": "HEAP",
    "go-mutex": "CONTENTION",
    "go-goroutine": "THREADS",
    "python-wall": "WALL",
    "python-heap": "HEAP",
    "node-heap": "HEAP",
    "series/go-cpu-00": "CPU",
    "series/node-wall-01": "WALL",
    "series/python-wall-00": "WALL",
}


def raw(name: str) -> bytes:
    return gunzip((SAMPLES / f"{name}.pb.gz").read_bytes(), 2**24)


# The oracle is slow in proportion to the profile's size.
BY_ORACLE = [
    pytest.param(*each, marks=[pytest.mark.slow] if each[0] == "go-heap" else [])
    for each in TYPES.items()
]


@pytest.mark.parametrize(("name", "profile_type"), BY_ORACLE)
def test_real_profiles_are_decoded_like_by_the_oracle(name: str, profile_type: str) -> None:
    got = decode_profile(raw(name), profile_type, DecodeLimits())
    expected = oracle.digest(raw(name), profile_type)
    assert oracle.meaning_of(got.tree, got.totals, got.samples) == expected
    assert got.weight > 0


@pytest.mark.parametrize(("name", "profile_type"), TYPES.items())
def test_real_profiles_are_unchanged_by_storage_and_doubled_by_merging(
    name: str, profile_type: str
) -> None:
    tree = decode_profile(raw(name), profile_type, DecodeLimits()).tree
    assert meaning(decode(encode(tree))) == meaning(tree)
    twice = merge([tree, tree])
    for k, metric in enumerate(twice.metrics):
        assert twice.self[k].sum() == 2 * tree.self[tree.metrics.index(metric)].sum()


def test_each_real_profile_has_its_default_metric() -> None:
    found = {
        name: (d := decode_profile(raw(name), kind, DecodeLimits())).tree.metrics[d.default]
        for name, kind in TYPES.items()
    }
    assert found == {
        "go-cpu": ("cpu", "nanoseconds"),
        "go-heap": ("inuse_space", "bytes"),
        "go-mutex": ("delay", "nanoseconds"),
        "go-goroutine": ("goroutine", "count"),
        "python-wall": ("wall", "nanoseconds"),
        "python-heap": ("inuse_space", "bytes"),
        "node-heap": ("inuse_space", "bytes"),
        "series/go-cpu-00": ("cpu", "nanoseconds"),
        "series/node-wall-01": ("wall", "nanoseconds"),
        "series/python-wall-00": ("wall", "nanoseconds"),
    }


def test_generics_keep_their_names() -> None:
    tree = decode_profile(raw("go-cpu"), "CPU", DecodeLimits()).tree
    assert any("[go.shape" in name or "[...]" in name for name in tree.frames.strings)
    assert tree.labelled is not None
    assert {label.key for labels in tree.labelled.label_sets for label in labels} == {"job"}


def test_largest_total_of_the_function_list_is_the_whole() -> None:
    tree = by_function(decode_profile(raw("python-wall"), "WALL", DecodeLimits()).tree)
    rows = top(tree, tree.metrics.index(("wall", "nanoseconds")))
    assert max(row.total for row in rows) == tree.self[1].sum()
    assert next(row for row in rows if row.name == "fibonacci").total < tree.self[1].sum()
