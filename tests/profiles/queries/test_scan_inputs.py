"""Scan inputs of a selection."""

import time
from datetime import timedelta

import pytest

from profiles.engine.calltree.merge import Merge
from profiles.engine.metrics import Metric
from profiles.models import Profile
from profiles.queries.scanning import head_input
from profiles.queries.scanning.scan import scan
from profiles.queries.scanning.scan_input import Trees
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import DeadlinePassed
from profiles.query import Selection
from projects.models import Deployment
from tests.profiles import rows

pytestmark = pytest.mark.django_db
CPU = Metric("cpu", "nanoseconds")


def test_parts_add_up_to_everything_that_matches(
    selection: Selection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_input, "CHUNK", 2)
    for minute in range(5):
        rows.stored(shop, minutes=minute)
    merge, used = Merge([CPU], by_function=True), ScanStats()
    with scan(selection, CPU) as found:
        for part in found:
            part.add_to(merge, used)
    assert int(merge.tree().self.sum()) == used.total == 5 * 9_000_000
    assert (used.profiles, used.duration_ns) == (5, 50 * 10**9)


def test_what_is_unpacked_ahead_adds_up_to_the_same(
    selection: Selection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check more inputs than are decoded ahead at once, with damage in one of them."""
    monkeypatch.setattr(head_input, "CHUNK", 3)
    for minute in range(20):
        rows.stored(shop, {"main;a": minute + 1, f"main;{minute}": 2}, minutes=minute)
    damaged = rows.stored(shop, minutes=10.5)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.tree[:-9])
    found = {trees: _summed(selection, trees) for trees in (Trees.WHOLE, Trees.FUNCTIONS)}
    (first, used), (second, ahead) = found.values()
    assert used == ahead
    assert used.profiles == 20
    assert [missing.start for missing in used.missing] == [damaged.time]
    assert first == second


def _summed(selection: Selection, trees: Trees) -> tuple[dict[int, int], ScanStats]:
    merge, used = Merge([CPU], by_function=True), ScanStats()
    with scan(selection, CPU, trees=trees) as found:
        for part in found:
            part.add_to(merge, used)
    tree = merge.tree()
    return dict(zip(tree.id.tolist(), tree.self[0].tolist(), strict=True)), used


def test_a_sum_that_ends_early_leaves_nothing_behind(
    selection: Selection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_input, "CHUNK", 1)
    for minute in range(9):
        rows.stored(shop, minutes=minute)
    with scan(selection, CPU, trees=Trees.FUNCTIONS) as found:
        next(iter(found))
    assert Profile.objects.count() == 9


def test_no_part_lies_across_a_cut(selection: Selection, shop: Deployment) -> None:
    for minute in (0, 9.9, 10, 11, 31):
        rows.stored(shop, minutes=minute)
    cuts = [rows.NOON + timedelta(minutes=minutes) for minutes in (10, 20, 30)]
    with scan(selection, CPU, cuts=cuts) as found:
        sizes = [(part.start, len(part.dimension(ScanStats()).time)) for part in found]
    assert sizes == [
        (rows.NOON, 2),
        (rows.NOON + timedelta(minutes=10), 2),
        (rows.NOON + timedelta(minutes=31), 1),
    ]


def test_the_dimension_knows_profiles_without_their_trees(
    selection: Selection, shop: Deployment
) -> None:
    rows.stored(shop, minutes=1)
    Profile.objects.update(tree=b"damaged")
    with scan(selection, CPU, trees=Trees.NONE) as found:
        (part,) = found
    known = part.dimension(ScanStats())
    noon = int(rows.NOON.timestamp()) * 10**6
    assert known.time.tolist() == [noon + 60 * 10**6]
    assert known.deployment.tolist() == [shop.pk]
    assert (known.weight.tolist(), known.total.tolist()) == ([9_000_000], [9_000_000])
    assert known.duration_ns.tolist() == [10**10]


def test_profiles_without_the_metric_are_no_part(selection: Selection, shop: Deployment) -> None:
    rows.stored(shop)
    with scan(selection, Metric("apples", "count")) as found:
        merge, used = Merge([CPU], by_function=True), ScanStats()
        for part in found:
            part.add_to(merge, used)
    assert (used.profiles, used.coverage().left_out) == (0, 1)


def test_the_deadline_is_looked_at_between_parts(selection: Selection, shop: Deployment) -> None:
    rows.stored(shop)
    late = time.monotonic() - 1
    with scan(selection, CPU, deadline=late) as found, pytest.raises(DeadlinePassed):
        next(iter(found))
