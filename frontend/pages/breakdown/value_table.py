"""Table of the values of a label: rows with their change to the previous period, and headings."""

from dataclasses import dataclass

from common.time_text import time_text
from findings.costs import ServiceCosts
from frontend.pages.breakdown.chart import CHARTED
from frontend.pages.breakdown.params import SORTS, BreakdownQuery
from frontend.pages.breakdown.rates import Rate
from frontend.params.formats import is_reversed, next_sort, sort_column
from frontend.text.display_names import NOT_SET
from frontend.text.money import format_money
from frontend.text.units import format_delta_percent, format_value
from profiles.query import GroupSeries, SeriesResult


@dataclass(frozen=True, slots=True)
class Change:
    """Relative change to the previous period of equal length."""

    text: str  # "" if it is unknown
    sign: int  # -1, 0 or 1
    is_new: bool  # the previous period has profiles, but none with the value


@dataclass(frozen=True, slots=True)
class ValueRow:
    """Table row of a label value."""

    value: str | None  # None: without the label
    name: str
    number: int  # of its series in the chart; 0 if it is in "other"
    shown: str  # its part of the rate of all profiles
    share: float
    mean: str  # rate of its own profiles; "" for a label of samples
    change: Change
    profiles: int | None
    flame: str  # query string of the flame graph of this value
    cost: str  # a month: money, or cores without a price; "" if it is not known


@dataclass(frozen=True, slots=True)
class SortHeading:
    """Heading of a sortable column."""

    sort: str  # value of the `sort` parameter that the heading's link sets
    order: str  # aria-sort; "" for other columns


def value_name(value: str | None) -> str:
    return str(NOT_SET) if value is None else value


def sort_heading(query: BreakdownQuery, column: str) -> SortHeading:
    """Return a heading, whose link reverses the current column; numbers descend, names ascend."""
    link = next_sort(query.sort, column, SORTS[0])
    if sort_column(query.sort) != column:
        return SortHeading(link, "")
    ascends = is_reversed(query.sort) != (column == "name")
    return SortHeading(link, "ascending" if ascends else "descending")


def value_rows(
    query: BreakdownQuery,
    result: SeriesResult,
    previous: SeriesResult | None,
    rate: Rate,
    costs: ServiceCosts | None,
) -> list[ValueRow]:
    """Return a row per value in the order of `query.sort`; changes are relative to `previous`.

    `costs` is None for metrics without a cost.
    """
    whole = _Whole.from_result(result)
    before = {each.value: each for each in previous.values} if previous else {}
    of_before = _Whole.from_result(previous) if previous else _Whole(0, 0, 0)
    are_all_known = previous is not None and not previous.other
    keyed: list[tuple[dict[str, float | str], ValueRow]] = []
    for number, each in enumerate(result.values, 1):
        own = _own_rate(each, rate, whole)
        earlier = before.get(each.value)
        was = _own_rate(earlier, rate, of_before) if earlier else None
        is_known = of_before.profiles > 0 and (earlier is not None or are_all_known)
        change, ratio = _change(own, was, is_known=is_known)
        row = ValueRow(
            value=each.value,
            name=value_name(each.value),
            number=number if number <= CHARTED else 0,
            shown=format_value(
                rate.compute(each.total, whole.profiles, whole.duration_ns) or 0, rate.unit
            ),
            share=each.total / whole.total if whole.total else 0.0,
            mean=format_value(own or 0, rate.unit) if each.profiles is not None else "",
            change=change,
            profiles=each.profiles,
            flame=query.only(each.value).parameters(),
            cost=_format_cost(costs, result, each.total / max(whole.duration_ns, 1)),
        )
        keys: dict[str, float | str] = {
            "value": -each.total,
            "mean": -(own or 0),
            "change": -ratio,
            "profiles": -(each.profiles or 0),
            "name": value_name(each.value),
        }
        keyed.append((keys, row))
    column = sort_column(query.sort)
    keyed.sort(key=lambda pair: pair[0][column], reverse=is_reversed(query.sort))
    return [row for _keys, row in keyed]


def _format_cost(costs: ServiceCosts | None, result: SeriesResult, cores_per_agent: float) -> str:
    """Format the part of the service's cost; parts of all values add up to it."""
    if costs is None:
        return ""
    cost = costs.compute_cpu(result.selection.service, cores_per_agent)
    if cost.cores is None:
        return ""
    if cost.money is None:
        return format_value(cost.cores, "cores")
    return format_money(cost.money, costs.prices.currency)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Sums over all profiles of a range."""

    total: int
    profiles: int
    duration_ns: int

    @classmethod
    def from_result(cls, result: SeriesResult) -> "_Whole":
        steps = result.steps
        return cls(
            sum(step.total for step in steps),
            sum(step.profiles for step in steps),
            sum(step.duration_ns for step in steps),
        )


def _own_rate(series: GroupSeries, rate: Rate, whole: _Whole) -> float | None:
    """Return the rate of the value's own profiles; of a label of samples, that of all profiles."""
    if series.profiles is None or series.duration_ns is None:
        return rate.compute(series.total, whole.profiles, whole.duration_ns)
    return rate.compute(series.total, series.profiles, series.duration_ns)


def _change(now: float | None, was: float | None, *, is_known: bool) -> tuple[Change, float]:
    """Return the change, and the number to sort by: new values first, unknown ones last."""
    if not is_known or now is None:
        return Change("", 0, is_new=False), float("-inf")
    if not was:
        return Change("", 1, is_new=True), float("inf")
    ratio = now / was - 1
    text = format_delta_percent(ratio)
    return Change(text, 0 if text == "0" else 1 if ratio > 0 else -1, is_new=False), ratio


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
