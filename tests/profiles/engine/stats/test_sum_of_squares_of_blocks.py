"""Sums of squares over blocks equal a brute-force computation."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.blocks import (
    BlockProfile,
    build_day,
    build_hour,
    open_day,
    open_hour,
    row_variance,
    sparse_values,
)
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.stats.sum_of_squares import VarianceMerge
from tests.examples import examples
from tests.profiles.engine.blocks import reference_sums
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import folded, meaning, tree_of

few_examples = settings(max_examples=examples(80), deadline=None)
CPU = Metric("cpu", "nanoseconds")
RECURSIVE = st.lists(folded().map(lambda stacks: profile_of(tree_of(stacks))), max_size=8)
PROFILES = st.one_of(st.lists(drawn_profiles(), max_size=8), RECURSIVE)


def assert_equal(merge: VarianceMerge, profiles: Sequence[BlockProfile]) -> None:
    found, expected = (
        reference_sums.squares_of(merge.variance()),
        reference_sums.reference_variance(profiles, CPU),
    )
    assert found.keys() == expected.keys()
    for key, (square, count) in expected.items():
        assert found[key][0] == pytest.approx(square, rel=1e-9)
        assert found[key][1] == count


@few_examples
@given(PROFILES)
def test_stored_trees_give_the_reference_sums(profiles: list[BlockProfile]) -> None:
    merge = VarianceMerge(CPU)
    for profile in profiles:
        merge.add_encoded(profile.tree)
    assert_equal(merge, profiles)


@few_examples
@given(PROFILES, st.integers(0, 8), st.integers(0, 8), st.data())
def test_head_hour_and_day_together_give_the_reference_sums(
    profiles: list[BlockProfile], one: int, other: int, data: st.DataObject
) -> None:
    first, last = sorted((one, other))
    merge = VarianceMerge(CPU)
    for profile in profiles[:first]:
        merge.add_encoded(profile.tree)
    hour = open_hour(build_hour(profiles[first:last]))
    rows = np.array([data.draw(st.booleans()) for _ in range(hour.rows)], bool)
    merge.add_hour(hour, rows)
    day = open_day(build_day([open_hour(build_hour(profiles[last:]))]))
    groups = day.groups.deployment != 2
    merge.add_day(day, groups)
    names = {name for name, row in zip(hour.identities.name_id, rows, strict=True) if row}
    assert_equal(
        merge,
        [
            *profiles[:first],
            *(p for p in profiles[first:last] if p.name_id in names),
            *(p for p in profiles[last:] if p.deployment != 2),
        ],
    )


@few_examples
@given(PROFILES)
def test_sums_of_the_variance_merge_equal_those_of_a_merge(profiles: list[BlockProfile]) -> None:
    merge = VarianceMerge(CPU)
    merge.add_hour(open_hour(build_hour(profiles)))
    having = [p for p in profiles if CPU in reference_sums.metrics_of([p])]
    found, expected = merge.variance(), reference_sums.merged(having, [CPU], True)
    assert meaning(found.tree)["own"] == expected["own"]  # type: ignore[index]


@few_examples
@given(PROFILES, st.data())
def test_precomputed_nodes_give_bit_identical_sums(
    profiles: list[BlockProfile], data: st.DataObject
) -> None:
    block = open_hour(build_hour(profiles))
    marks = np.array([data.draw(st.booleans()) for _ in range(block.rows)], bool)
    for metric in range(len(block.metrics)):
        for rows, meant in ((marks, marks), (None, np.ones(block.rows, bool))):
            used = block.get_used_sums([metric], rows, by_function=True).used
            found = row_variance.compute_variance(block, metric, rows, used)
            group = meant.astype(np.int32) - np.int32(1)
            every = row_variance.row_variance(block, metric, group, 1)
            for one, other in zip(found, row_variance.taken(every, used), strict=True):
                assert one.tolist() == other.tolist()


@pytest.mark.parametrize("is_partial", [False, True])
def test_sums_over_several_chunks_equal_the_reference(
    is_partial: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_values, "CHUNK_ROWS", 2)
    monkeypatch.setattr(sparse_values, "FULL_CHUNK_VALUES", 1)
    stacks = [{"main;a;b": i + 1, f"main;{i % 3};a": 2 * i, "a;main": 7} for i in range(7)]
    profiles = [
        profile_of(tree_of(folded_stacks), time=i) for i, folded_stacks in enumerate(stacks)
    ]
    block = open_hour(build_hour(profiles))
    assert len(block.sparse_values.chunks) == 4
    rows = np.arange(7) % 3 != 1
    merge = VarianceMerge(CPU)
    merge.add_hour(block, rows if is_partial else None)
    assert_equal(merge, [p for p, row in zip(profiles, rows, strict=True) if row or not is_partial])


def test_variance_of_all_rows_is_cached_with_the_block() -> None:
    block = open_hour(build_hour([profile_of(tree_of({"main;a": i, "b": 1})) for i in range(9)]))
    used = block.get_used_sums([0], None, by_function=True).used
    some = row_variance.compute_variance(block, 0, np.arange(9) < 4, used)
    before = block.size
    every = row_variance.compute_variance(block, 0, None, used)
    assert block.size - before == sum(column.nbytes for column in every)
    assert row_variance.compute_variance(block, 0, None, used) is every
    assert some.present.tolist() != every.present.tolist()


def test_deep_recursion_counts_once() -> None:
    deep = profile_of(tree_of({";".join(["f", "g"] * 5_000): 3}))
    merge = VarianceMerge(CPU)
    merge.add_hour(open_hour(build_hour([deep])))
    functions = merge.variance().functions
    by_name = dict(zip(functions.name, functions.total_square.tolist(), strict=True))
    assert by_name == {"f": 9.0, "g": 9.0}


def test_a_day_without_variance_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hour = open_hour(build_hour([profile_of(tree_of({"main;work": 1}))]))
    building = import_module("profiles.engine.blocks.build_day")
    monkeypatch.setattr(building, "MAX_VARIANCE_ROWS", 1)
    day = open_day(build_day([hour]))
    assert not day.has_variance
    with pytest.raises(ValueError, match="variances"):
        VarianceMerge(CPU).add_day(day)


def test_too_many_nodes_for_variance_are_rejected_with_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_variance, "MAX_NODES", 1)
    hour = open_hour(build_hour([profile_of(tree_of({"main;work": 1}))]))
    with pytest.raises(TooLarge, match="max_moment_nodes"):
        VarianceMerge(CPU).add_hour(hour)
