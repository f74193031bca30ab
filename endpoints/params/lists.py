"""Parameters of lists, histories and series, which the query API and the pages have in common."""

from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter, Repeated
from endpoints.params.selection import parse_grouping
from profiles.query import ProfileOrder

FUNCTION_COLUMNS = ("self", "total", "count", "name")
FUNCTION_SORT = parameter.sort("sort", "Column that sorts the functions", FUNCTION_COLUMNS)
PROFILE_ORDER = parameter.member("order", "Order of profiles", ProfileOrder.NEWEST)
STEP = Parameter("step", "Length of a step", values.span, None)
# The strict policy has no limit of its own for names of functions, which may be long.
FUNCTION = Repeated("function", "Full name of a function", str, values.cut, most_used=5)


GROUP_BY = Parameter("group_by", "Label whose values are grouped", parse_grouping, None)
CURSOR = Parameter(
    "page",
    "Token of a page, from the page before it",
    values.short,
    "",
    lambda text: values.cut(text, 120),
)
