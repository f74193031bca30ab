"""Comparison of two selections of a service."""

import json
from dataclasses import asdict, replace
from datetime import timedelta

import numpy as np
import pytest

from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.stats import comparison as engine
from profiles.engine.stats.significance import differences
from profiles.queries import compare, compare_sides
from profiles.query import (
    CompareResult,
    FilterOption,
    FunctionChange,
    Group,
    InvalidQuery,
    ProfileSelection,
    Shape,
    Untested,
    UntestedReason,
    View,
    ViewFilter,
    compare_document,
    dumps,
    run_compare,
    run_top,
    run_tree,
)
from profiles.storage.insert import insert
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.stats.simulated_profiles import sample_variance
from tests.profiles.pprofs import Stacks

pytestmark = pytest.mark.django_db

PROFILES = 12


def stacks(number: int, version: str) -> Stacks:
    """Return stacks that vary by profile; in version 2 `slow` takes 50 % more and `new` is new."""
    noise = number % 5
    found = {"main": 50, "main;slow;io": 1000 + 20 * noise, "main;steady": 700 + 30 * noise}
    if version == "2":
        found |= {"main;slow;io": 1500 + 20 * noise, "main;new": 90 + noise}
    return found


@pytest.fixture
def sides(
    project: Project, selection: ProfileSelection
) -> tuple[ProfileSelection, ProfileSelection]:
    """Store profiles of two versions of the shop, and return their selections."""
    for version in "12":
        shop = rows.deployment(project, version=version)
        made = [rows.new(shop, stacks(i, version), minutes=i) for i in range(PROFILES)]
        assert all(insert(made))
    return replace(selection, versions=("1",)), replace(selection, versions=("2",))


def by_name(result: CompareResult) -> dict[str, FunctionChange]:
    return {change.name: change for change in result.functions}


def test_each_side_equals_its_own_tree_and_list(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    result = run_compare(query_context(sides[0]), *sides, View())
    for k, side in enumerate(sides):
        alone, top = (
            run_tree(query_context(side), side, View()),
            run_top(query_context(side), side, View()),
        )
        assert result.coverages[k] == alone.coverage
        own = dict(zip(result.tree.id.tolist(), result.tree.self[k].tolist(), strict=True))
        assert {node: value for node, value in own.items() if value} == {
            node: value
            for node, value in zip(alone.tree.id.tolist(), alone.tree.self[0].tolist(), strict=True)
            if value
        }
        found = by_name(result)
        for row in top.rows:
            change = found[row.name]
            sums = (change.a_self, change.a_total) if k == 0 else (change.b_self, change.b_total)
            assert sums == (row.self, row.total)


def test_only_changed_functions_are_significant(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    result = run_compare(query_context(sides[0]), *sides, View())
    changes = by_name(result)
    assert {name for name, change in changes.items() if change.real} == {
        "main",
        "slow",
        "io",
        "new",
    }
    slow, steady = changes["slow"], changes["steady"]
    assert (slow.low or 0) < -500_000 < (slow.high or 0) < 0
    assert (steady.low, steady.high, steady.q) != (None, None, None)
    assert [change.name for change in result.functions][:2] == ["main", "io"]
    assert result.untested is None


def test_side_compared_with_itself_has_no_significant_change(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    result = run_compare(query_context(sides[0]), sides[0], sides[0], View())
    assert not any(change.real for change in result.functions)
    assert result.intervals is not None
    assert not (result.intervals.q < 1).any()


def test_a_side_without_profiles_has_no_tests(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    nobody = replace(sides[0], versions=("3",))
    for pair in ((sides[0], nobody), (nobody, sides[0])):
        result = run_compare(query_context(pair[0]), *pair, View())
        assert sorted(coverage.profiles for coverage in result.coverages) == [0, PROFILES]
        assert int(result.tree.self.sum()) == result.coverages[0].total + result.coverages[1].total
        assert result.intervals is None
        assert result.untested == Untested(UntestedReason.FEW_PROFILES, 0, 8)
        assert str(result.untested).endswith("and one has 0.")
        document = dumps(compare_document(query_context(result.selections[0]), result))
        assert json.loads(document)["q"] == [None] * len(result.tree.id)
    empty = run_compare(query_context(nobody), nobody, nobody, View())
    assert len(empty.tree.id) == 0
    assert empty.functions == ()


@pytest.mark.parametrize(
    "view",
    [
        View(filters=(ViewFilter(FilterOption.SHOW, "slow"),)),
        View(filters=(ViewFilter(FilterOption.HIDE, "steady"),)),
        View(filters=(ViewFilter(FilterOption.HIDE_FRAMES, "slow"),)),
        View(filters=(ViewFilter(FilterOption.FROM, "slow"),)),
        View(group=Group.LINE),
        View(shape=Shape.BOTTOM_UP),
        View(focus="slow"),
    ],
)
def test_views_that_change_the_nodes_have_exact_intervals(
    sides: tuple[ProfileSelection, ProfileSelection], view: View
) -> None:
    """Check `io`, whose values are the same in all views."""
    plain, result = (
        run_compare(query_context(sides[0]), *sides, View()),
        run_compare(query_context(sides[0]), *sides, view),
    )
    io, expected = by_name(result)["io"], by_name(plain)["io"]
    assert (io.a_self, io.b_self) == (expected.a_self, expected.b_self)
    assert io.low == pytest.approx(expected.low)
    assert io.high == pytest.approx(expected.high)
    for k, side in enumerate(sides):
        alone = run_tree(query_context(side), side, view).tree
        assert int(result.tree.self[k].sum()) == int(alone.self[0].sum())
        assert set(alone.id.tolist()) <= set(result.tree.id.tolist())


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(filters=(ViewFilter(FilterOption.HIDE, "steady"),)),
        View(filters=(ViewFilter(FilterOption.HIDE_FRAMES, "main"),)),
        View(group=Group.LINE),
        View(shape=Shape.BOTTOM_UP),
        View(focus="slow"),
        View(max_nodes=2),
    ],
)
def test_root_has_the_interval_of_the_profile_totals(
    project: Project, selection: ProfileSelection, view: View
) -> None:
    """Check trees with two roots against the totals of the same profiles queried one by one."""
    sides, variances = [], []
    for version in "12":
        shop = rows.deployment(project, version=version)
        made = [
            rows.new(shop, {**stacks(i, version), "gc;slow": 40 + i % 3}, minutes=i)
            for i in range(PROFILES)
        ]
        assert all(insert(made))
        side = replace(selection, versions=(version,))
        minutes = [rows.NOON + timedelta(minutes=i) for i in range(PROFILES)]
        apart = [replace(side, start=at, end=at + timedelta(minutes=1)) for at in minutes]
        found = [run_tree(query_context(one), one, replace(view, max_nodes=50)) for one in apart]
        totals_of_profiles = [float(one.tree.self.sum()) for one in found]
        sides.append(side)
        variances.append(sample_variance(np.array([totals_of_profiles])))
    result = run_compare(query_context(sides[0]), sides[0], sides[1], view)
    expected = differences(variances[0], variances[1])
    whole = result.whole
    assert (whole.a_total, whole.b_total) == tuple(int(side.sums[0]) for side in variances)
    assert (whole.low, whole.high) == pytest.approx((expected.low[0], expected.high[0]))
    assert whole.q is not None
    assert whole.real == (whole.q <= 0.05)
    assert whole.real


def test_filtered_comparison_over_the_value_limit_has_no_intervals_but_a_reason(
    sides: tuple[ProfileSelection, ProfileSelection], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View(filters=(ViewFilter(FilterOption.HIDE, "steady"),))
    exact = run_compare(query_context(sides[0]), *sides, view)
    monkeypatch.setattr(compare_sides, "MAX_CELLS", 20)
    result = run_compare(query_context(sides[0]), *sides, view)
    assert result.intervals is None
    assert result.untested is not None
    assert result.untested.reason is UntestedReason.TOO_MANY_VALUES
    assert "the limit is 20." in str(result.untested)
    assert result.coverages == exact.coverages
    assert not any(change.real or change.q for change in result.functions)
    sums = [{c.name: (c.a_total, c.b_total) for c in each.functions} for each in (result, exact)]
    assert sums[0] == sums[1]


def test_a_root_restricts_the_result_and_leaves_the_tests_unchanged(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    whole = run_compare(query_context(sides[0]), *sides, View())
    ids, total = whole.tree.id.tolist(), totals(whole.tree.parent, whole.tree.self[0])
    slow = next(i for i, own in enumerate(total.tolist()) if own == by_name(whole)["io"].a_total)
    result = run_compare(query_context(sides[0]), *sides, View(root=ids[slow]))
    assert set(by_name(result)) <= {"slow", "io"}
    assert by_name(result)["io"] == by_name(whole)["io"]
    assert result.intervals is not None
    assert whole.intervals is not None
    at = [ids.index(node) for node in result.tree.id.tolist()]
    assert result.intervals.q.tolist() == whole.intervals.q[at].tolist()
    assert result.whole.a_total == by_name(whole)["io"].a_total
    assert result.whole.low == result.intervals.low[0]
    with pytest.raises(InvalidQuery, match="No node"):
        run_compare(query_context(sides[0]), *sides, View(root=1))


def test_folding_keeps_the_nodes_with_the_largest_mean(
    sides: tuple[ProfileSelection, ProfileSelection],
) -> None:
    whole, result = (
        run_compare(query_context(sides[0]), *sides, View()),
        run_compare(query_context(sides[0]), *sides, View(max_nodes=3)),
    )
    assert len(result.tree.id) == 3
    assert len(result.functions) == len(whole.functions)
    count = sum(count for count, _ in result.folded.values())
    assert count == len(whole.tree.id) - 3
    left_out = sum(total for _, total in result.folded.values())
    assert int(result.tree.self.sum()) + left_out == int(whole.tree.self.sum())
    assert result.intervals is not None
    assert len(result.intervals.q) == 3


def test_the_json_has_both_sides(sides: tuple[ProfileSelection, ProfileSelection]) -> None:
    result = run_compare(query_context(sides[0]), *sides, View())
    document = json.loads(dumps(compare_document(query_context(result.selections[0]), result)))
    assert (document["profiles"], document["b"]["profiles"]) == (PROFILES, PROFILES)
    assert sum(document["self"]) == document["total"] == result.coverages[0].total
    assert sum(document["b"]["self"]) == document["b"]["total"] == result.coverages[1].total
    names = [document["names"][document["frames"]["name"][frame]] for frame in document["frame"]]
    assert names == ["main", "slow", "io", "steady", "new"]
    assert document["depth"] == [0, 1, 2, 1, 1]
    assert document["ci_lo"][1] == pytest.approx(by_name(result)["slow"].low, rel=1e-4)
    assert document["q"][3] > 0.05
    assert document["whole"] == asdict(result.whole)
    assert document["whole"]["low"] < 0
    assert document["metric"] == {"name": "cpu", "unit": "nanoseconds"}


def test_changes_have_functions_with_values_and_ties_are_ordered_by_name() -> None:
    """Check the order of equal names, which differ by file or come from damaged strings."""
    names = ["none", "b", "b", "a", "large", "b"]
    files = ["", "2", "1", "", "", "1"]
    total = np.array([[0, 5, 5, 5, 40, 5], [0, 10, 10, 10, 10, 10]])
    q = np.array([np.nan, np.nan, 0.2, 0.01, 0.2, np.nan])
    pairs = engine.FunctionPairs(
        np.arange(6, dtype=np.uint64),
        names,
        files,
        0 * total,
        total,
        engine.TestedDifferences(q - 1, q + 1, q, q),
        engine.build_untested(len(q)),
    )
    changes = compare.list_changes(pairs, (1, 2))
    assert [change[:2] for change in changes] == [
        ("large", ""),
        ("a", ""),
        ("b", "1"),
        ("b", "1"),
        ("b", "2"),
    ]
    assert [(change.q, change.real) for change in changes] == [
        (0.2, False),
        (0.01, True),
        (0.2, False),
        (None, False),
        (None, False),
    ]
    assert changes[-1] == FunctionChange("b", "2", 0, 5, 0, 10, None, None, None, False)


def test_the_metrics_are_those_of_both_sides(project: Project, selection: ProfileSelection) -> None:
    for version, types in (
        ("1", [("samples", "count"), ("cpu", "nanoseconds")]),
        ("2", [("cpu", "nanoseconds"), ("other", "count")]),
    ):
        shop = rows.deployment(project, version=version)
        rows.stored(shop, {"main": [5, 7]}, sample_types=types)
    one, two = replace(selection, versions=("1",)), replace(selection, versions=("2",))
    result = run_compare(query_context(one), one, two, View())
    assert [metric.name for metric in result.metrics] == ["cpu"]
    assert result.tree.self.tolist() == [[7], [5]]


def test_sides_of_different_service_type_or_project_are_rejected(
    selection: ProfileSelection,
) -> None:
    for other in (
        replace(selection, service="other"),
        replace(selection, type=ProfileType.HEAP),
        replace(selection, project=selection.project + 1),
    ):
        with pytest.raises(InvalidQuery, match="the same service and type"):
            run_compare(query_context(selection), selection, other, View())


def test_two_ranges_are_compared(shop: Deployment, selection: ProfileSelection) -> None:
    for i in range(2 * PROFILES):
        rows.stored(shop, stacks(i, "2" if i >= PROFILES else "1"), minutes=i)
    middle = selection.start + timedelta(minutes=PROFILES)
    result = run_compare(
        query_context(replace(selection, end=middle)),
        replace(selection, end=middle),
        replace(selection, start=middle),
        View(),
    )
    assert by_name(result)["new"].real
    assert np.isfinite(by_name(result)["new"].q or np.nan)
