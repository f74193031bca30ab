"""Parameters of lists, histories and series, which the query API and the pages have in common."""

from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter, Repeated
from profiles.query import Grouping, GroupKind, ProfileOrder

FUNCTION_COLUMNS = ("self", "total", "count", "name")
FUNCTION_SORT = parameter.sort("sort", "Column that sorts the functions", FUNCTION_COLUMNS)
PROFILE_ORDER = parameter.member("order", "Order of profiles", ProfileOrder.NEWEST)
STEP = Parameter("step", "Length of a step", values.span, None)
# The strict policy has no limit of its own for names of functions, which may be long.
FUNCTION = Repeated("function", "Full name of a function", str, values.cut, most_used=5)


def _grouping(text: str) -> Grouping:
    """Parse the name of the parameter that selects one value of the label."""
    kind, point, name = text.partition(".")
    is_named = kind in (GroupKind.LABEL, GroupKind.SAMPLE)
    if kind not in tuple(GroupKind) or bool(name) is not is_named or (point and not name):
        allowed = "version, zone, label.NAME or sample.NAME"
        raise ValueError(f"{text[:60]!r} is none of {allowed}")
    return Grouping(GroupKind(kind), values.short(name))


GROUP_BY = Parameter("group_by", "Label whose values are grouped", _grouping, None)
CURSOR = Parameter(
    "page",
    "Token of a page, from the page before it",
    values.short,
    "",
    lambda text: values.cut(text, 120),
)
