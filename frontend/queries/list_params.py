"""URL parameters of pages with a list: its search and its page number."""

from endpoints.params import values
from endpoints.params.parameter import Parameter

_LONGEST = 255  # characters of a search

FIND = Parameter("find", "Search", str, "", lambda text: text.strip()[:_LONGEST])
PAGE = Parameter("page", "Page of the list", values.page, 1)
