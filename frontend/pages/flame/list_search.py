"""Rows of the function list that follow the zoom and the search of the graph."""

from dataclasses import dataclass, replace

from frontend.components.functions.name_search import build_name_matcher
from frontend.pages.flame.merged_tree import MergedPage
from frontend.params.page_params import LIST_VIEW, PageParams
from profiles.query import (
    QueryContext,
    TopResult,
    TreeResult,
    run_top_below,
)


@dataclass(frozen=True, slots=True)
class SearchedList:
    top: TopResult  # with only the matching rows
    all: int  # number of rows before the search
    unreadable: str  # error of an invalid search expression; all rows are then listed
    zoomed_name: str  # function of the zoomed frame, below which the rows are; "" for all


def search_functions(
    context: QueryContext, params: PageParams, results: MergedPage
) -> SearchedList:
    """Restrict the function list to the zoomed frame and to the search, as the graph shows them.

    The search is a part of a function's name, or `/a regular expression/`. The list follows the
    zoom into a top-down graph; callers and callees of a focus, and bottom-up graphs, have other
    totals than the list. Raise `DeadlinePassed` or `InvalidQuery`.
    """
    zoomed_name, top = _list_below_zoom(context, params, results)
    matches, unreadable = build_name_matcher(params.search)
    rows = tuple(row for row in top.rows if matches(row.name))
    return SearchedList(replace(top, rows=rows), len(top.rows), unreadable, zoomed_name)


def _list_below_zoom(
    context: QueryContext, params: PageParams, results: MergedPage
) -> tuple[str, TopResult]:
    drawn = results.drawn
    if not params.frame or params.view == LIST_VIEW or not isinstance(drawn, TreeResult):
        return "", results.top
    found = run_top_below(context, drawn, results.top, int(params.frame, 16))
    return found or ("", results.top)
