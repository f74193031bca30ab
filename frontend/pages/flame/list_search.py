"""The list of functions on its own: what is searched for narrows it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from frontend.queries.params import PageParams
from profiles.query import BadFilterPattern, TopResult, matcher

ALONE = (
    "list"  # the view without a graph: beside one, the search marks frames and the list is whole
)


@dataclass(frozen=True, slots=True)
class SearchedList:
    top: TopResult  # with the rows that are listed
    all: int  # rows before the search
    unreadable: str  # why the search is no expression; all rows are listed then


def listed(asked: PageParams, top: TopResult) -> SearchedList:
    """As the search over the graph has it: part of a function's name, or /an expression/."""
    if asked.view != ALONE:
        return SearchedList(top, len(top.rows), "")
    wanted, unreadable = searched(asked.search)
    rows = tuple(row for row in top.rows if wanted(row.name))
    return SearchedList(replace(top, rows=rows), len(top.rows), unreadable)


def searched(text: str) -> tuple[Callable[[str], bool], str]:
    """Which names are listed, all of them without a search; and why it is no expression."""
    try:
        return (matcher(text) if text else _any), ""
    except BadFilterPattern as error:
        return _any, str(error)


def _any(_name: str) -> bool:
    return True
