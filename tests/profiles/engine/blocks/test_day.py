"""Day blocks: equal to all profiles of their hours, for any deployments and labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import (
    BlockProfile,
    build_day,
    build_hour,
    open_day,
    open_hour,
)
from profiles.engine.blocks.build_day import MAX_LABEL_SETS
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from tests.examples import examples
from tests.profiles.engine.blocks import reference_sums
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import meaning, tree_of

few = settings(max_examples=examples(60), deadline=None)
PROFILES = st.lists(drawn_profiles(), max_size=8)
CPU = Metric("cpu", "nanoseconds")


@few
@given(PROFILES, st.integers(0, 8), st.data(), st.booleans())
def test_a_day_merges_like_its_profiles(
    profiles: list[BlockProfile], cut: int, data: st.DataObject, by_function: bool
) -> None:
    hours = [open_hour(build_hour(part)) for part in (profiles[:cut], profiles[cut:])]
    day = open_day(build_day(hours))
    chosen = {n for n in (1, 2, 3) if data.draw(st.booleans())}
    metrics = reference_sums.metrics_of(profiles)
    merge = Merge(metrics, by_function)
    merge.add_day(day, np.isin(day.groups.deployment, list(chosen)))
    expected = [p for p in profiles if p.deployment in chosen]
    assert meaning(merge.tree()) == reference_sums.merged(expected, metrics, by_function)
    whole = Merge(metrics, by_function)
    whole.add_day(day)
    assert meaning(whole.tree()) == reference_sums.merged(profiles, metrics, by_function)


@few
@given(PROFILES)
def test_day_block_has_the_profiles_of_its_hours(profiles: list[BlockProfile]) -> None:
    day = open_day(build_day([open_hour(build_hour(profiles))]))
    columns, groups = day.profiles, day.groups
    found = sorted(
        (
            int(columns.time[i]),
            int(columns.deployment[i]),
            columns.label_sets[columns.label_set[i]],
            int(columns.weight[i]),
        )
        for i in range(len(columns))
    )
    assert found == sorted(
        (p.time, p.deployment, tuple(sorted(p.labels.items())), p.weight) for p in profiles
    )
    assert day.by_labels
    assert groups.deployment[groups.of_profile].tolist() == columns.deployment.tolist()
    assert groups.label_set[groups.of_profile].tolist() == columns.label_set.tolist()


def test_with_many_label_sets_it_is_grouped_by_deployment() -> None:
    tree = tree_of({"main": 1})
    profiles = [
        profile_of(tree, deployment=i % 2, labels={"instance": str(i)})
        for i in range(MAX_LABEL_SETS + 1)
    ]
    day = open_day(build_day([open_hour(build_hour(profiles))]))
    assert not day.by_labels
    assert day.groups.deployment.tolist() == [0, 1]
    assert len(day.profiles.label_sets) == len(profiles)


def test_sums_beyond_64_bits_are_rejected_and_other_metrics_are_not() -> None:
    huge = [profile_of(tree_of({"main": 2**62})) for _ in range(2)]
    hour = open_hour(build_hour(huge))
    with pytest.raises(BadProfile, match="64 bits"):
        Merge([CPU], by_function=True).add_hour(hour)
    one = Merge([CPU], by_function=True)
    one.add_hour(hour, np.array([True, False]))
    assert int(one.tree().self.sum()) == 2**62
    day = open_day(build_day([hour]))
    with pytest.raises(BadProfile, match="64 bits"):
        Merge([CPU], by_function=True).add_day(day)
