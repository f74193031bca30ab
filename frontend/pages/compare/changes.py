"""Table of changed functions: differences between both sides, and their significance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from frontend.components.functions.name_search import build_name_matcher
from frontend.components.functions.packages import split_function
from frontend.text.display_names import SplitName
from frontend.text.units import (
    format_delta,
    format_delta_points,
    format_percent,
    format_value,
)
from profiles.query import CompareResult, FunctionChange

FIRST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Delta:
    """Signed difference, in the unit of the metric or in percentage points."""

    text: str
    sign: int  # -1, 0 or 1


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One function, or the total; values are averages per profile, or shares of the total.

    All values of a row have the same unit; shares have no interval, because only the differences
    of averages are tested.
    """

    name: str
    split: SplitName
    file: str
    self: Delta
    total: Delta
    interval: str  # 95% confidence interval of `total`; "" if not tested, or for shares
    baseline: str
    selected: str
    only: str  # "added" if selected only, "removed" if baseline only, else ""
    real: bool


@dataclass(frozen=True, slots=True)
class Changes:
    whole: ChangeRow | None  # the total of all functions; None if a side has no profiles
    lines: list[ChangeRow]
    listed: int  # functions in the full list
    all: int
    real: int
    tested: bool  # at least one function was tested
    unreadable: str  # error of an invalid search expression; all functions are then listed


@dataclass(frozen=True, slots=True)
class _Scale:
    """Divisors of the sums of each side: profiles, or the total that the graph draws."""

    baseline: float
    selected: float


def changes(
    result: CompareResult,
    *,
    relative: bool,
    real: bool,
    sort: str,
    reverse: bool,
    whole: bool,
    search: str = "",
) -> Changes:
    """Build the table of changes.

    `relative` compares shares of the total instead of averages. `real` restricts the table to
    significant changes, which only averages have, and `search` to matching names; `whole` shows
    every row instead of the first 200.
    """
    matches, unreadable = build_name_matcher(search)
    is_restricted = real and not relative
    rows = [
        row for row in result.functions if (row.real or not is_restricted) and matches(row.name)
    ]
    scale = _scale(result, relative=relative)
    ordered = _sort_rows(rows, scale, sort, reverse)
    shown = ordered if whole else ordered[:FIRST_ROWS]
    unit = "" if relative else result.metric.unit
    return Changes(
        whole=_whole(result, scale, unit, relative=relative, real=real),
        lines=[_line(row, scale, unit, relative=relative) for row in shown],
        listed=len(rows),
        all=len(result.functions),
        real=sum(row.real for row in result.functions),
        tested=any(row.q is not None for row in result.functions),
        unreadable=unreadable,
    )


def _scale(result: CompareResult, *, relative: bool) -> _Scale:
    selected, baseline = (coverage.profiles for coverage in result.coverages)
    if relative:
        baseline, selected = result.whole.b_total, result.whole.a_total
    return _Scale(max(1, baseline), max(1, selected))


def _whole(
    result: CompareResult, scale: _Scale, unit: str, *, relative: bool, real: bool
) -> ChangeRow | None:
    if not all(coverage.profiles for coverage in result.coverages):
        return None
    whole = result.whole
    sums = 0, whole.a_total, 0, whole.b_total  # the total of all nodes has no self value
    row = FunctionChange("", "", *sums, whole.low, whole.high, whole.q, whole.real)
    line = _line(row, scale, unit, relative=relative)
    if real and not relative and not whole.real:  # as its frame in the graph
        return replace(line, total=replace(line.total, sign=0))
    return line


def _sort_rows(
    rows: Sequence[FunctionChange], scale: _Scale, sort: str, reverse: bool
) -> list[FunctionChange]:
    """Sort by difference, the largest increase first; names in ascending order.

    Of functions with the same difference in total, those that spend it themselves come before their
    callers.
    """

    def self_decrease(row: FunctionChange) -> float:
        return row.b_self / scale.baseline - row.a_self / scale.selected

    def total_decrease(row: FunctionChange) -> tuple[float, float]:
        total = row.b_total / scale.baseline - row.a_total / scale.selected
        return total, self_decrease(row)

    by_name = sorted(rows, key=lambda row: (row.name, row.file))
    if sort == "name":
        return by_name[::-1] if reverse else by_name
    if sort == "self":
        return sorted(by_name, key=self_decrease, reverse=reverse)
    return sorted(by_name, key=total_decrease, reverse=reverse)


def _line(row: FunctionChange, scale: _Scale, unit: str, *, relative: bool) -> ChangeRow:
    def delta(baseline: int, selected: int) -> Delta:
        value = selected / scale.selected - baseline / scale.baseline
        text = format_delta_points(value) if relative else format_delta(value, unit)
        return Delta(text, (value > 0) - (value < 0))

    def value(total: int, divisor: float) -> str:
        return format_percent(total, divisor) if relative else format_value(total / divisor, unit)

    return ChangeRow(
        name=row.name,
        split=split_function(row.name, row.file),
        file=row.file,
        self=delta(row.b_self, row.a_self),
        total=delta(row.b_total, row.a_total),
        interval="" if relative else _interval(row, unit),
        baseline=value(row.b_total, scale.baseline),
        selected=value(row.a_total, scale.selected),
        only="added" if not row.b_total else "removed" if not row.a_total else "",
        real=row.real,
    )


def _interval(row: FunctionChange, unit: str) -> str:
    if row.low is None or row.high is None:
        return ""
    low, high = format_delta(row.low, unit), format_delta(row.high, unit)
    if low.partition(" ")[2] == high.partition(" ")[2]:
        low = low.partition(" ")[0]  # do not repeat a unit that both ends share
    return f"{low} … {high}"


def table(result: CompareResult, *, relative: bool) -> list[list[str | int | float]]:
    """Return the CSV rows of all functions: sums, differences, and the interval of averages.

    Differences are of averages, or of shares in percentage points.
    """
    scale, factor = _scale(result, relative=relative), 100 if relative else 1

    def difference(baseline: int, selected: int) -> float:
        return factor * (selected / scale.selected - baseline / scale.baseline)

    return [
        [
            row.name,
            row.file,
            *(row.b_self, row.b_total, row.a_self, row.a_total),
            difference(row.b_self, row.a_self),
            difference(row.b_total, row.a_total),
            *([] if relative else _significance_columns(row)),
        ]
        for row in result.functions
    ]


def _significance_columns(row: FunctionChange) -> list[str | int | float]:
    ends = ("" if value is None else value for value in (row.low, row.high, row.q))
    return [*ends, "yes" if row.real else "no"]


def columns(result: CompareResult, *, relative: bool) -> list[str]:
    """Return the CSV header for `table`."""
    unit = result.metric.unit
    selected, baseline = (coverage.profiles for coverage in result.coverages)
    sums = [
        f"{side} {value} ({unit}, profiles: {n})"
        for side, n in (("baseline", baseline), ("selected", selected))
        for value in ("self", "total")
    ]
    if relative:
        differences = [f"selected - baseline, {value} (pp)" for value in ("self", "total")]
        return ["function", "file", *sums, *differences]
    of_self, of_total = (f"selected - baseline, {value} per profile" for value in ("self", "total"))
    ends = [f"{of_total}, 95 % interval {end} ({unit})" for end in ("from", "to")]
    differences = [f"{difference} ({unit})" for difference in (of_self, of_total)]
    return ["function", "file", *sums, *differences, *ends, "q", "significant"]
