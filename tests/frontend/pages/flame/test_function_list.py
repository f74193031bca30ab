"""Function list: order, shares, bars, and the number of rows shown."""

from datetime import UTC, datetime

from frontend.components.functions.package_colours import PackageColours
from frontend.pages.flame.function_list import PAGE_ROWS, FunctionList, function_list
from profiles.query import Coverage, FunctionRow, Metric, ProfileSelection, TopResult, View
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CPU = Metric("cpu", "nanoseconds")
MS = 10**6


def shown(
    rows: list[FunctionRow],
    sort: str = "self",
    reverse: bool = False,
    whole: bool = False,
    page: int = 1,
) -> FunctionList:
    selection = ProfileSelection(1, "shop", ProfileType.CPU, NOON, NOON)
    total = sum(row.self for row in rows)
    coverage = Coverage(2, total, 20 * 10**9, NOON, NOON)
    top = TopResult(selection, View(), CPU, (CPU,), coverage, tuple(rows), total)
    return function_list(
        top, PackageColours(top.rows), total, sort, reverse, None if whole else page
    )


EXAMPLE = [
    FunctionRow("bar", "app.py", 10 * MS, 10 * MS, 2),
    FunctionRow("main", "app.py", 4 * MS, 18 * MS, 5),
    FunctionRow("foo1", "app.py", 3 * MS, 8 * MS, 2),
    FunctionRow("foo2", "app.py", 1 * MS, 6 * MS, 2),
]


def names(found: FunctionList) -> list[str]:
    return [line.name for line in found.lines]


def test_values_are_averages_per_profile_with_their_share() -> None:
    bar, *_ = shown(EXAMPLE).lines
    assert (bar.self, bar.self_share) == ("5 ms", "55.6%")
    assert (bar.total, bar.total_share) == ("5 ms", "55.6%")
    assert bar.count == "2"


def test_list_is_sorted_by_each_column_in_both_directions() -> None:
    assert names(shown(EXAMPLE)) == ["bar", "main", "foo1", "foo2"]
    assert names(shown(EXAMPLE, "total")) == ["main", "bar", "foo1", "foo2"]
    assert names(shown(EXAMPLE, "total", reverse=True)) == ["foo2", "foo1", "bar", "main"]
    assert names(shown(EXAMPLE, "name")) == ["bar", "foo1", "foo2", "main"]
    assert names(shown(EXAMPLE, "name", reverse=True)) == ["main", "foo2", "foo1", "bar"]
    assert names(shown(EXAMPLE, "count")) == ["main", "bar", "foo1", "foo2"]


def test_bars_belong_to_the_sorted_column_and_its_largest_value() -> None:
    assert [line.bar for line in shown(EXAMPLE).lines] == ["100.0%", "40.0%", "30.0%", "10.0%"]
    assert shown(EXAMPLE, "total").lines[1].bar == "55.6%"
    assert {line.bar for line in shown(EXAMPLE, "name").lines} == {""}


def test_a_long_list_begins_with_its_first_rows_and_says_how_many_there_are() -> None:
    rows = [FunctionRow(f"f{i}", "", i, i, 1) for i in range(PAGE_ROWS + 50)]
    first, whole = shown(rows), shown(rows, whole=True)
    assert (len(first.lines), first.all) == (PAGE_ROWS, PAGE_ROWS + 50)
    assert len(whole.lines) == whole.all
    assert first.lines[0].name == f"f{PAGE_ROWS + 49}"


def test_function_without_values_has_zero_shares() -> None:
    (line,) = shown([FunctionRow("idle", "", 0, 0, 0)]).lines
    assert (line.self, line.self_share, line.bar) == ("0", "0", "")
