"""Table of changed functions: differences between both sides, and their significance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frontend.components.display_names import SplitName, split_name
from frontend.components.units import format_delta, format_delta_points, format_value
from frontend.pages.flame.list_search import searched
from profiles.query import CompareResult, FunctionChange

FIRST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Delta:
    text: str
    sign: int  # -1, 0 or 1


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One function; values are averages per profile."""

    name: str
    split: SplitName
    file: str
    self: Delta
    total: Delta
    interval: str  # 95% confidence interval of the difference of totals; "" if not tested
    baseline: str
    selected: str
    only: str  # "added" if selected only, "removed" if baseline only, else ""
    real: bool


@dataclass(frozen=True, slots=True)
class Changes:
    lines: list[ChangeRow]
    listed: int  # functions in the full list
    all: int
    real: int
    tested: bool  # at least one function was tested
    unreadable: str  # error of an invalid search expression; all functions are then listed


@dataclass(frozen=True, slots=True)
class _Scale:
    """Divisors of the sums of each side."""

    baseline: float
    selected: float


def changes(
    result: CompareResult,
    *,
    absolute: bool,
    real: bool,
    sort: str,
    reverse: bool,
    whole: bool,
    search: str = "",
) -> Changes:
    """Build the table of changes.

    `real` restricts it to significant changes, `search` to matching names; `whole` shows every row
    instead of the first 200.
    """
    matches, unreadable = searched(search)
    rows = [row for row in result.functions if (row.real or not real) and matches(row.name)]
    profiles, shares = _scales(result)
    ordered = _sorted(rows, profiles if absolute else shares, sort, reverse)
    shown = ordered if whole else ordered[:FIRST_ROWS]
    unit = result.metric.unit
    return Changes(
        lines=[_line(row, profiles, None if absolute else shares, unit) for row in shown],
        listed=len(rows),
        all=len(result.functions),
        real=sum(row.real for row in result.functions),
        tested=any(row.q is not None for row in result.functions),
        unreadable=unreadable,
    )


def _scales(result: CompareResult) -> tuple[_Scale, _Scale]:
    selected, baseline = result.coverages
    return (
        _Scale(max(1, baseline.profiles), max(1, selected.profiles)),
        _Scale(max(1, baseline.total), max(1, selected.total)),
    )


def _sorted(
    rows: Sequence[FunctionChange], scale: _Scale, sort: str, reverse: bool
) -> list[FunctionChange]:
    """Sort by magnitude, largest first, ignoring the sign; names in ascending order."""
    keys: dict[str, Callable[[FunctionChange], float]] = {
        "total": lambda row: -abs(row.a_total / scale.selected - row.b_total / scale.baseline),
        "self": lambda row: -abs(row.a_self / scale.selected - row.b_self / scale.baseline),
    }
    by_name = sorted(rows, key=lambda row: (row.name, row.file))
    if sort == "name":
        return by_name[::-1] if reverse else by_name
    return sorted(by_name, key=keys[sort], reverse=reverse)


def _line(row: FunctionChange, profiles: _Scale, shares: _Scale | None, unit: str) -> ChangeRow:
    def delta(baseline: int, selected: int) -> Delta:
        scale = shares or profiles
        value = selected / scale.selected - baseline / scale.baseline
        text = format_delta_points(value) if shares else format_delta(value, unit)
        return Delta(text, (value > 0) - (value < 0))

    return ChangeRow(
        name=row.name,
        split=split_name(row.name),
        file=row.file,
        self=delta(row.b_self, row.a_self),
        total=delta(row.b_total, row.a_total),
        interval=_interval(row, unit),
        baseline=format_value(row.b_total / profiles.baseline, unit),
        selected=format_value(row.a_total / profiles.selected, unit),
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


def table(result: CompareResult) -> list[list[str | int | float]]:
    """Return the CSV rows of all functions: sums, and the interval of the mean's difference."""
    return [
        [
            row.name,
            row.file,
            row.b_self,
            row.b_total,
            row.a_self,
            row.a_total,
            "" if row.low is None else row.low,
            "" if row.high is None else row.high,
            "" if row.q is None else row.q,
            "yes" if row.real else "no",
        ]
        for row in result.functions
    ]


def columns(result: CompareResult) -> list[str]:
    """Return the CSV header for `table`."""
    unit = result.metric.unit
    selected, baseline = (coverage.profiles for coverage in result.coverages)
    sums = [
        f"{side} {value} ({unit}, profiles: {n})"
        for side, n in (("baseline", baseline), ("selected", selected))
        for value in ("self", "total")
    ]
    difference = "selected - baseline, total per profile"
    ends = [f"{difference}, 95 % interval {end} ({unit})" for end in ("from", "to")]
    return ["function", "file", *sums, *ends, "q", "significant"]
