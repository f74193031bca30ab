"""Sums of functions by hour, against plain arithmetic over the stored profiles."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from findings.hourly_sums import storage
from findings.hourly_sums.half_day import HalfDaySums
from findings.hourly_sums.series import build_series
from findings.models import HourlySums
from profiles.query import ProfileSelection, QueryContext, run_function_sums
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.queries.compaction_stages import STAGES, compact_to

HOURS = 24
STACKS = [
    {"main": 5, "main;a": 7, "main;a;b": 11, "main;b": 13, "main;b;a;b": 17},
    {"main;a": 3, "main;c;a": 19},
    {"main;c;b": 23, "job;b": 29},
]


def _profiles() -> list[tuple[int, int]]:
    """Return the hour and the index of STACKS of each profile."""
    return [(number % HOURS, number % 3 if number % 5 else 0) for number in range(100)]


def _store(project: Project) -> None:
    old, new = (rows.deployment(project, version=version) for version in ("1", "2"))
    for number, (hour, stacks) in enumerate(_profiles()):
        deployment = new if hour >= 20 else old
        rows.stored(
            deployment, STACKS[stacks], minutes=60 * hour + number % 60, name_id=f"n{number}"
        )


@dataclass(frozen=True)
class ExpectedSums:
    sums: dict[str, NDArray[np.float64]]  # by function, [HOURS], in ns
    squares: Counter[str]


def _sum_plainly(is_total: bool) -> ExpectedSums:
    expected = ExpectedSums(defaultdict(lambda: np.zeros(HOURS)), Counter())
    for hour, index in _profiles():
        of_profile = Counter[str]()
        for stack, microseconds in STACKS[index].items():
            names = stack.split(";")
            for name in set(names) if is_total else names[-1:]:
                of_profile[name] += 1000 * microseconds
        for name, value in of_profile.items():
            expected.sums[name][hour] += value
            expected.squares[name] += value * value
    return expected


@pytest.mark.parametrize("stage", STAGES)
def test_sums_equal_those_of_single_profiles(project: Project, stage: str) -> None:
    _store(project)
    compact_to(project, stage)
    selection = ProfileSelection(
        *(project.pk, "shop", ProfileType.CPU),
        *(rows.NOON, rows.NOON + timedelta(hours=HOURS)),
    )
    result = run_function_sums(QueryContext(project.pk), selection, 100)
    own, total = _sum_plainly(is_total=False), _sum_plainly(is_total=True)
    assert set(result.names) == {"main", "a", "b", "c", "job"}
    for index, name in enumerate(result.names):
        np.testing.assert_array_equal(result.self_sums[index], own.sums[name])
        np.testing.assert_array_equal(result.total_sums[index], total.sums[name])
        assert result.self_squares[index] == own.squares[name]
        assert result.total_squares[index] == total.squares[name]
    hours = Counter(hour for hour, _ in _profiles())
    assert result.profiles.tolist() == [hours[hour] for hour in range(HOURS)]
    whole = sum(sum(STACKS[index].values()) for _, index in _profiles())
    assert result.totals.sum() == 1000 * whole
    assert result.versions["2"].tolist() == [hours[h] if h >= 20 else 0 for h in range(HOURS)]
    callers = dict(zip(result.names, result.callers.tolist(), strict=True))
    assert callers["main"] == callers["job"] == -1
    assert result.names[callers["c"]] == "main"


def test_functions_beyond_the_limit_are_omitted_with_their_bound(project: Project) -> None:
    _store(project)
    selection = ProfileSelection(
        *(project.pk, "shop", ProfileType.CPU),
        *(rows.NOON, rows.NOON + timedelta(hours=HOURS)),
    )
    whole = run_function_sums(QueryContext(project.pk), selection, 100)
    part = run_function_sums(QueryContext(project.pk), selection, 2)
    totals = whole.total_sums.sum(axis=1)
    assert part.names == whole.names[:2]
    assert part.omitted_total == totals[2]
    assert sorted(totals.tolist(), reverse=True) == totals.tolist()


def test_bytes_of_half_a_day_are_read_again(project: Project) -> None:
    _store(project)
    context, start = QueryContext(project.pk), rows.NOON
    content = storage.compute_half_day(context, "shop", ProfileType.CPU, start)
    sums = HalfDaySums.from_bytes(content)
    selection = ProfileSelection(
        project.pk, "shop", ProfileType.CPU, start, start + timedelta(hours=12)
    )
    result = run_function_sums(context, selection, storage.MAX_FUNCTIONS)
    assert (sums.names, sums.files, sums.unit) == (result.names, result.files, "nanoseconds")
    for name in ("self_sums", "total_sums", "self_squares", "total_squares", "profiles", "totals"):
        np.testing.assert_allclose(getattr(sums, name), getattr(result, name), rtol=1e-6)
    assert {name: row.tolist() for name, row in sums.versions.items()} == {
        name: row.tolist() for name, row in result.versions.items()
    }


def test_damaged_row_is_computed_again(project: Project) -> None:
    _store(project)
    context, end = QueryContext(project.pk), rows.NOON + timedelta(hours=12)
    first = storage.load_window(context, "shop", ProfileType.CPU, end)
    HourlySums.objects.filter(start=rows.NOON).update(content=b"damaged")
    second = storage.load_window(context, "shop", ProfileType.CPU, end)
    assert first[-1] is not None
    assert second[-1] is not None
    assert second[-1].names == first[-1].names
    assert [each is None for each in second] == [True] * 45 + [False]


def test_series_of_the_window_has_the_sums_at_their_hours(project: Project) -> None:
    _store(project)
    context, end = QueryContext(project.pk), rows.NOON + timedelta(hours=24)
    halves = storage.load_window(context, "shop", ProfileType.CPU, end)
    window = build_series("shop", "CPU", end, halves)
    assert window is not None
    series, expected = window.series, _sum_plainly(is_total=True).sums
    assert series.first_hour == int(end.timestamp()) // 3600 - 46 * 12
    for index, symbol in enumerate(series.functions):
        np.testing.assert_array_equal(series.total_sums[index, -HOURS:], expected[symbol.name])
        assert not series.total_sums[index, :-HOURS].any()
    assert window.mean_duration_ns == 10 * 10**9
    assert series.ancestors.any()  # callers have no cycle


def test_function_that_may_have_been_omitted_is_left_out(project: Project) -> None:
    _store(project)
    context, end = QueryContext(project.pk), rows.NOON + timedelta(hours=24)
    both = []
    for start, functions in ((rows.NOON, 100), (end - timedelta(hours=12), 1)):
        selection = ProfileSelection(
            *(project.pk, "shop", ProfileType.CPU, start, start + timedelta(hours=12))
        )
        both.append(HalfDaySums.from_result(run_function_sums(context, selection, functions)))
    window = build_series("shop", "CPU", end, both)
    assert window is not None
    names = {symbol.name for symbol in window.series.functions}
    assert names == {"main"}
