"""Search in the function list of the list view."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from frontend.queries.params import PageParams
from profiles.query import BadFilterPattern, TopResult, matcher

ALONE = "list"  # view without a graph, where the search filters rows; elsewhere it marks frames


@dataclass(frozen=True, slots=True)
class SearchedList:
    top: TopResult  # with only the matching rows
    all: int  # number of rows before the search
    unreadable: str  # error of an invalid search expression; all rows are then listed


def listed(params: PageParams, top: TopResult) -> SearchedList:
    """Filter the function list with the syntax of the graph's search.

    The search is a part of a function's name, or `/a regular expression/`. It applies to the list
    view only.
    """
    if params.view != ALONE:
        return SearchedList(top, len(top.rows), "")
    matches, unreadable = searched(params.search)
    rows = tuple(row for row in top.rows if matches(row.name))
    return SearchedList(replace(top, rows=rows), len(top.rows), unreadable)


def searched(text: str) -> tuple[Callable[[str], bool], str]:
    """Return a predicate for names, and the error of an invalid expression ("" if valid).

    An empty or invalid search matches every name.
    """
    try:
        return (matcher(text) if text else _any), ""
    except BadFilterPattern as error:
        return _any, error.reason


def _any(_name: str) -> bool:
    return True
