"""Merging blocks equals merging their profiles, for any division into blocks."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import BlockProfile, HourBlock, build_hour, open_hour
from profiles.engine.metrics import Metric
from tests.examples import examples
from tests.profiles.engine.blocks import reference_sums
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import meaning, tree_of
from tests.profiles.pprofs import EXAMPLE

few = settings(max_examples=examples(60), deadline=None)
PROFILES = st.lists(drawn_profiles(), max_size=6)


def by_blocks(
    blocks: Sequence[tuple[HourBlock, "np.typing.NDArray[np.bool_] | None"]],
    metrics: Sequence[Metric],
    by_function: bool,
) -> object:
    merge = Merge(metrics, by_function)
    for block, rows in blocks:
        merge.add_hour(block, rows)
    return meaning(merge.tree())


@few
@given(PROFILES, st.integers(0, 6), st.booleans())
def test_blocks_merge_like_their_profiles(
    profiles: list[BlockProfile], cut: int, by_function: bool
) -> None:
    metrics = reference_sums.metrics_of(profiles)
    blocks = [open_hour(build_hour(part)) for part in (profiles[:cut], profiles[cut:])]
    expected = reference_sums.merged(profiles, metrics, by_function)
    assert by_blocks([(block, None) for block in blocks], metrics, by_function) == expected
    whole = open_hour(build_hour([], [(block, None) for block in blocks]))
    assert by_blocks([(whole, None)], metrics, by_function) == expected


@few
@given(PROFILES, st.data(), st.booleans())
def test_mask_selects_the_marked_profiles(
    profiles: list[BlockProfile], data: st.DataObject, by_function: bool
) -> None:
    metrics = reference_sums.metrics_of(profiles)
    names = {p.name_id for p in profiles if data.draw(st.booleans())}
    block = open_hour(build_hour(profiles))
    rows = np.array([name in names for name in block.identities.name_id], bool)
    expected = reference_sums.merged(
        [p for p in profiles if p.name_id in names], metrics, by_function
    )
    assert by_blocks([(block, rows)], metrics, by_function) == expected
    rest = open_hour(build_hour([], [(block, rows)]))
    assert set(rest.identities.name_id) == names
    assert by_blocks([(rest, None)], metrics, by_function) == expected


def test_merge_reads_only_the_metrics_that_a_block_has() -> None:
    block = open_hour(build_hour([profile_of(tree_of(EXAMPLE))]))
    merge = Merge([Metric("cpu", "nanoseconds"), Metric("other", "count")], by_function=True)
    merge.add_hour(block)
    assert merge.tree().self.sum(axis=1).tolist() == [9_000, 0]


@few
@given(PROFILES)
def test_stored_profiles_are_read_back_unchanged(profiles: list[BlockProfile]) -> None:
    block = open_hour(build_hour(profiles))
    columns = block.profiles
    expected = {
        p.name_id: (
            p.time, p.deployment, p.agent, p.duration_ns, p.weight, p.samples, dict(p.labels),
            sorted(p.totals), p.body_hash, p.time_source,
        )
        for p in profiles
    }  # fmt: skip
    found = {
        block.identities.name_id[i]: (
            int(columns.time[i]),
            int(columns.deployment[i]),
            None if columns.agent[i] == -1 else int(columns.agent[i]),
            int(columns.duration_ns[i]),
            int(columns.weight[i]),
            int(columns.samples[i]),
            dict(columns.label_sets[columns.label_set[i]]),
            [
                (*metric, int(columns.totals[k, i]))
                for k, metric in enumerate(columns.metrics)
                if columns.has[k, i]
            ],
            block.identities.body_hash[i],
            block.identities.time_source[i],
        )
        for i in range(len(columns))
    }
    assert found == expected
    assert columns.time.tolist() == sorted(p.time for p in profiles)
