"""CSV file of a breakdown: the sums of each value, and of the previous period."""

from frontend.pages.breakdown.params import BreakdownQuery
from frontend.params.formats import time_text
from profiles.query import SeriesResult


def table(result: SeriesResult, previous: SeriesResult | None) -> list[list[str | int | float]]:
    """Return CSV rows with the sums of each value; `columns` returns the header."""
    before = {each.value: each for each in previous.values} if previous else {}
    unknown = None if previous is None or previous.other else 0
    rows: list[list[str | int | float]] = []
    for each in result.values:
        earlier = before.get(each.value)
        rows.append(
            [
                each.value or "",
                each.total,
                _cell(each.profiles),
                _cell(earlier.total if earlier else unknown),
                _cell(earlier.profiles if earlier else unknown),
                *each.totals,
            ]
        )
    if other := result.other:
        name = f"other ({result.other_values})"
        rows.append([name, other.total, _cell(other.profiles), "", "", *other.totals])
    return rows


def _cell(number: int | None) -> int | str:
    return "" if number is None else number


def columns(query: BreakdownQuery, result: SeriesResult) -> list[str]:
    unit = result.metric.unit
    return [
        query.group_by.parameter,
        f"total ({unit})",
        "profiles",
        f"total of the previous period ({unit})",
        "profiles of the previous period",
        *(f"{time_text(step.start)} ({unit}, profiles: {step.profiles})" for step in result.steps),
    ]
