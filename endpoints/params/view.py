"""View of the selected profiles: its parameters, and how they combine."""

from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter, Repeated
from endpoints.params.reader import StrictReader
from endpoints.params.selection import parse_grouping
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
MAX_NAME = 10_000  # characters of the name of a function or file


def parse_filter(text: str) -> ViewFilter:
    """Parse `option:value`. Raise ValueError, or BadFilterPattern for an invalid value."""
    option, colon, value = text.partition(":")
    if not colon or option not in list(FilterOption):
        options = ", ".join(f"{each}:…" for each in FilterOption)
        raise ValueError(f"{text[:60]!r} is no filter; there are {options}")
    matcher(value)
    return ViewFilter(FilterOption(option), value)


def filter_text(view_filter: ViewFilter) -> str:
    """Format a filter as `parse_filter` reads it."""
    return f"{view_filter.option}:{view_filter.value}"


METRIC = parameter.text("metric", "Name of the sample value")
FILTER = Repeated("f", "Filter: an option, a colon and a pattern", parse_filter, most_used=20)
SHAPE = parameter.member("view", "Direction of the call tree", Shape.TOP_DOWN)
FOCUS = parameter.text("focus", "Full name of a function: only stacks that contain it", MAX_NAME)
GROUP = parameter.member("group", "Nodes for functions or for lines", Group.FUNCTION)
ROOT = Parameter("root", "Id of a node: only the subtree below it", values.node, None)
SPLIT = Parameter("split", "Label whose values split the call tree", parse_grouping, None)
SORT = parameter.member("sort", "Order of siblings", Order.VALUE)


def read_view(reader: StrictReader) -> View:
    """Read a view: its metric, filters, shape, focus, group and root.

    A metric without a unit matches by its name. Raise BadParameter for an invalid filter.
    """
    metric = reader.read(METRIC)
    return View(
        metric=Metric(metric, ANY_UNIT) if metric else None,
        filters=reader.several(FILTER),
        shape=reader.read(SHAPE),
        focus=reader.read(FOCUS) or None,
        group=reader.read(GROUP),
        root=reader.read(ROOT),
    )


def read_order(reader: StrictReader) -> Order:
    """Read the order of sibling nodes."""
    return reader.read(SORT)
