"""View of the selected profiles from query parameters."""

from endpoints.params import values
from endpoints.params.query_string import Parameters
from profiles.query import (
    FilterOption,
    Group,
    Metric,
    Order,
    Shape,
    View,
    ViewFilter,
    matcher,
)

ANY_UNIT = ""


def read_view(of: Parameters) -> View:
    """Read a view: its metric, filters, shape, focus, group and root.

    A metric without a unit matches by its name. Raise BadParameter for an invalid filter.
    """
    metric = of.read("metric", values.short, "")
    return View(
        metric=Metric(metric, ANY_UNIT) if metric else None,
        filters=tuple(_filter(of, text) for text in of.several("f")),
        shape=Shape(of.read("view", _shape, Shape.TOP_DOWN.value)),
        focus=of.one("focus") or None,
        group=Group(of.read("group", _group, Group.FUNCTION.value)),
        root=of.read("root", values.node, None),
    )


def read_order(of: Parameters) -> Order:
    """Read the order of sibling nodes."""
    return Order(of.read("sort", _order, Order.WEIGHT.value))


def parse_filter(text: str) -> ViewFilter:
    """Parse `option:value`. Raise ValueError, or BadFilterPattern for an invalid value."""
    option, colon, value = text.partition(":")
    if not colon or option not in list(FilterOption):
        options = ", ".join(f"{each}:…" for each in FilterOption)
        raise ValueError(f"{text[:60]!r} is no filter; there are {options}")
    matcher(value)
    return ViewFilter(FilterOption(option), value)


def filter_text(of: ViewFilter) -> str:
    """Format a filter as `parse_filter` reads it."""
    return f"{of.option}:{of.value}"


def _filter(of: Parameters, text: str) -> ViewFilter:
    try:
        return parse_filter(text)
    except ValueError as error:
        raise of.bad("f", str(error)) from error


def _shape(text: str) -> str:
    return values.one_of(text, tuple(each.value for each in Shape))


def _group(text: str) -> str:
    return values.one_of(text, tuple(each.value for each in Group))


def _order(text: str) -> str:
    return values.one_of(text, tuple(each.value for each in Order))
