"""Scan inputs of a selection."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from profiles.engine.accumulators.merge import Merge
from profiles.engine.coverage import ScanStats
from profiles.engine.metrics import Metric
from profiles.models import Profile
from profiles.queries import scan as scan_module
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.plan import ReadOptions, Trees, plan_query
from profiles.queries.scan import scan
from profiles.queries.scan_input import ProfilesInput
from profiles.query import ProfileSelection
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
CPU = Metric("cpu", "nanoseconds")


@contextmanager
def scanning(
    context: QueryContext,
    selection: ProfileSelection,
    metric: Metric = CPU,
    *,
    cuts: Sequence[datetime] = (),
    trees: Trees = Trees.WHOLE,
) -> Iterator[Iterator[ProfilesInput]]:
    with context.snapshot:
        plan = plan_query(context, selection, ReadOptions(trees=trees, cuts=tuple(cuts)))
        with scan(context, plan, metric) as inputs:
            yield inputs


def test_inputs_together_have_every_matching_profile(
    selection: ProfileSelection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "CHUNK", 2)
    for minute in range(5):
        rows.stored(shop, minutes=minute)
    merge, used = Merge([CPU], by_function=True), ScanStats()
    with scanning(query_context(selection), selection) as inputs:
        for each in inputs:
            each.read_into(merge, used)
    assert int(merge.tree().self.sum()) == used.total == 5 * 9_000_000
    assert (used.profiles, used.duration_ns) == (5, 50 * 10**9)


def test_inputs_decoded_ahead_give_the_same_sums(
    selection: ProfileSelection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check more inputs than are decoded ahead at once, with damage in one of them."""
    monkeypatch.setattr(scan_module, "CHUNK", 3)
    for minute in range(20):
        rows.stored(shop, {"main;a": minute + 1, f"main;{minute}": 2}, minutes=minute)
    damaged = rows.stored(shop, minutes=10.5)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.content.tree[:-9])
    found = {trees: _summed(selection, trees) for trees in (Trees.WHOLE, Trees.FUNCTIONS)}
    (first, used), (second, ahead) = found.values()
    assert used == ahead
    assert used.profiles == 20
    assert [missing.start for missing in used.missing] == [damaged.time]
    assert first == second


def _summed(selection: ProfileSelection, trees: Trees) -> tuple[dict[int, int], ScanStats]:
    merge, stats = Merge([CPU], by_function=True), ScanStats()
    with scanning(query_context(selection), selection, trees=trees) as inputs:
        for each in inputs:
            each.read_into(merge, stats)
    tree = merge.tree()
    return dict(zip(tree.id.tolist(), tree.self[0].tolist(), strict=True)), stats


def test_scan_that_ends_early_leaves_no_work_behind(
    selection: ProfileSelection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "CHUNK", 1)
    for minute in range(9):
        rows.stored(shop, minutes=minute)
    with scanning(query_context(selection), selection, trees=Trees.FUNCTIONS) as inputs:
        next(iter(inputs))
    assert Profile.objects.count() == 9


def test_no_input_crosses_a_cut(selection: ProfileSelection, shop: Deployment) -> None:
    for minute in (0, 9.9, 10, 11, 31):
        rows.stored(shop, minutes=minute)
    cuts = [rows.NOON + timedelta(minutes=minutes) for minutes in (10, 20, 30)]
    context = query_context(selection)
    with scanning(context, selection, cuts=cuts) as inputs:
        sizes = [(each.start, len(each.dimension(ScanStats()).time)) for each in inputs]
    assert sizes == [
        (rows.NOON, 2),
        (rows.NOON + timedelta(minutes=10), 2),
        (rows.NOON + timedelta(minutes=31), 1),
    ]


def test_dimension_is_read_without_the_trees(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, minutes=1)
    Profile.objects.update(tree=b"damaged")
    context = query_context(selection)
    with scanning(context, selection, trees=Trees.NONE) as inputs:
        (head,) = inputs
    dimension = head.dimension(ScanStats())
    noon = int(rows.NOON.timestamp()) * 10**6
    assert dimension.time.tolist() == [noon + 60 * 10**6]
    assert dimension.deployment.tolist() == [shop.pk]
    assert (dimension.profile_total.tolist(), dimension.total.tolist()) == (
        [9_000_000],
        [9_000_000],
    )
    assert dimension.duration_ns.tolist() == [10**10]


def test_profiles_without_the_metric_are_left_out(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    merge, stats = Merge([CPU], by_function=True), ScanStats()
    with scanning(query_context(selection), selection, Metric("apples", "count")) as inputs:
        for each in inputs:
            each.read_into(merge, stats)
    assert (stats.profiles, stats.coverage().left_out) == (0, 1)


def test_deadline_is_checked_between_inputs(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    late = query_context(selection, time.monotonic() - 1)
    with scanning(late, selection) as inputs, pytest.raises(DeadlinePassed):
        next(iter(inputs))
