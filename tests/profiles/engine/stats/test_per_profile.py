"""Values of single profiles as rows of one tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_day, open_hour
from profiles.engine.calltree.filters import Filters, filter_tree
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import decode
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.stats.per_profile import PerProfile
from tests.examples import examples
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import tree_of
from tests.profiles.pprofs import EXAMPLE

CPU = Metric("cpu", "nanoseconds")


def rows_of(tree: Tree) -> list[dict[int, int]]:
    """Return the self values of each row by node id."""
    return [
        {node: value for node, value in zip(tree.id.tolist(), row, strict=True) if value}
        for row in tree.self.tolist()
    ]


def alone(profile: BlockProfile, by_function: bool) -> dict[int, int]:
    merge = Merge([CPU], by_function)
    merge.add_tree(decode(profile.tree))
    return rows_of(merge.tree())[0]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(drawn_profiles(), max_size=8), st.integers(0, 8), st.data(), st.booleans())
def test_each_row_has_the_values_of_its_profile(
    profiles: list[BlockProfile], cut: int, data: st.DataObject, by_function: bool
) -> None:
    merge = PerProfile(CPU, by_function)
    for profile in profiles[:cut]:
        merge.add_encoded(profile.tree)
    hour = open_hour(build_hour(profiles[cut:]))
    marks = np.array([data.draw(st.booleans()) for _ in range(hour.rows)], bool)
    merge.add_hour(hour, marks)
    by_name = {profile.name_id: profile for profile in profiles}
    taken = [
        by_name[name] for name, mark in zip(hour.identities.name_id, marks, strict=True) if mark
    ]
    expected = [alone(profile, by_function) for profile in [*profiles[:cut], *taken]]
    assert rows_of(merge.tree()) == expected


def test_filters_apply_to_all_of_them_at_once() -> None:
    merge = PerProfile(CPU)
    for times in (1, 3):
        tree = tree_of(EXAMPLE)
        merge.add_encoded(profile_of(replace(tree, self=times * tree.self)).tree)
    shown = filter_tree(merge.tree(), Filters(show=("foo1",)))
    assert shown.self.sum(axis=1).tolist() == [4_000, 12_000]


def test_too_many_values_are_rejected_with_the_limit() -> None:
    profile = profile_of(tree_of(EXAMPLE))
    merge = PerProfile(CPU, max_cells=9)
    merge.add_encoded(profile.tree)
    with pytest.raises(TooLarge, match="max_profile_cells"):
        merge.add_encoded(profile.tree)


def test_a_day_has_no_values_of_profiles() -> None:
    day = open_day(build_day([open_hour(build_hour([profile_of(tree_of(EXAMPLE))]))]))
    with pytest.raises(ValueError, match="individual profiles"):
        PerProfile(CPU).add_day(day)
