"""Rows of the function list: sorted, paged and formatted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frontend.text.display_names import SplitName, split_name
from frontend.text.units import format_count, format_percent, format_value
from profiles.query import FunctionRow, TopResult

PAGE_ROWS = 30  # about 15 kB, so that a fragment stays below 30 kB

_KEYS: dict[str, Callable[[FunctionRow], float]] = {
    "self": lambda row: row.self,
    "total": lambda row: row.total,
    "count": lambda row: row.count,
}


@dataclass(frozen=True, slots=True)
class FunctionListRow:
    """One function: averages per profile, and shares of the graph's total."""

    name: str
    split: SplitName
    file: str
    self: str
    self_share: str
    total: str
    total_share: str
    count: str
    bar: str  # percent of the sorted column's largest value; "" if sorted by name


@dataclass(frozen=True, slots=True)
class FunctionList:
    lines: list[FunctionListRow]
    until: int  # number of rows shown, including earlier pages
    all: int  # number of functions

    @property
    def more(self) -> int:
        return self.all - self.until


def function_list(
    top: TopResult, whole: int, sort: str, reverse: bool, page: int | None
) -> FunctionList:
    """Return page number `page` (from 1) of PAGE_ROWS rows; None for every row.

    `whole` is the total of which the graph shows shares, too.
    """
    rows = _sort_rows(top.rows, sort, reverse)
    first = 0 if page is None else (page - 1) * PAGE_ROWS
    shown = rows if page is None else rows[first : first + PAGE_ROWS]
    key = _KEYS.get(sort)
    largest = max(map(key, rows), default=0) if key else 0
    profiles, unit = max(1, top.coverage.profiles), top.metric.unit

    def line(row: FunctionRow) -> FunctionListRow:
        return FunctionListRow(
            name=row.name,
            split=split_name(row.name),
            file=row.file,
            self=format_value(row.self / profiles, unit),
            self_share=format_percent(row.self, whole),
            total=format_value(row.total / profiles, unit),
            total_share=format_percent(row.total, whole),
            count=format_count(row.count),
            bar=f"{key(row) / largest * 100:.1f}%" if key and largest else "",
        )

    return FunctionList([line(row) for row in shown], min(first + len(shown), len(rows)), len(rows))


def _sort_rows(rows: Sequence[FunctionRow], sort: str, reverse: bool) -> list[FunctionRow]:
    """Sort numbers in descending and names in ascending order; ties by self, total and name."""
    by_name = sorted(rows, key=lambda row: (-row.self, -row.total, row.name, row.file))
    if sort == "name":
        return sorted(by_name, key=lambda row: row.name, reverse=reverse)
    return sorted(by_name, key=_KEYS[sort], reverse=not reverse)
