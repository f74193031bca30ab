"""Texts of values in URLs, as endpoints.params parses them."""

from datetime import datetime, timedelta

from endpoints.params import values


def span_text(span: timedelta) -> str:
    """Return the shortest text that parses as this span, in whole seconds and 1 s at least."""
    seconds = max(1, round(span.total_seconds()))
    for unit in ("d", "h", "m"):
        if seconds % values.UNITS[unit] == 0:
            return f"{seconds // values.UNITS[unit]}{unit}"
    return f"{seconds}s"


def precise_time_text(time: datetime) -> str:
    """Format a time with microseconds, as the steps of a heat map need not be whole seconds."""
    return time.isoformat().replace("+00:00", "Z")


def percent_text(percent: float) -> str:
    """Return the shortest text that parses as this percentage, without an exponent."""
    return f"{percent:.6f}".rstrip("0").rstrip(".")


def total_range_text(total_range: tuple[int, int]) -> str:
    return f"{total_range[0]}..{total_range[1]}"


def node_text(node: int) -> str:
    return f"{node:016x}"


# A sort is a column; a leading `-` reverses its order.


def sort_column(sort: str) -> str:
    return sort.removeprefix("-")


def is_reversed(sort: str) -> bool:
    return sort.startswith("-")


def next_sort(sort: str, column: str, default: str) -> str:
    """Return the `sort` parameter that the heading of a column links to; "" for the default.

    The heading of the sorted column reverses the order.
    """
    following = f"-{column}" if sort == column else column
    return following if following != default else ""
