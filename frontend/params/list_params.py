"""URL parameters of pages with a list: its search and its page."""

from endpoints.params import values
from endpoints.params.lists import CURSOR
from endpoints.params.parameter import Parameter
from frontend.params.url_parameter import declare_dependents

_MAX_SEARCH_CHARACTERS = 255

FIND = Parameter("find", "Search", str, "", lambda text: text.strip()[:_MAX_SEARCH_CHARACTERS])
PAGE = Parameter("page", "Page of the list", values.page, 1)

# A list that changes begins again at its first page.
declare_dependents(
    dict.fromkeys([PAGE.name, CURSOR.name]),
    (
        *("type", "range", "span", "end", "zone", "version", "label.", "sample.", "unset"),
        *("group_by", "step", "metric", "sort", "weight", "weights", "order", "pick_from"),
    ),
)
