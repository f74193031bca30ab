"""Function list with column headings, one page of rows at a time."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse

from frontend.pages.flame.controls import SortColumn, columns
from frontend.pages.flame.function_list import FunctionList, function_list
from frontend.pages.flame.list_search import search_functions
from frontend.pages.flame.merged_tree import MergedPage, data_address
from frontend.params.formats import is_reversed
from frontend.params.page_links import flame_url
from frontend.params.page_params import LIST_VIEW, PageParams
from profiles.query import QueryContext
from projects.models import Project


@dataclass(frozen=True, slots=True)
class FunctionsPage:
    columns: list[SortColumn]
    list: FunctionList
    all: int  # number of functions before the search
    zoomed_name: str  # function of the zoomed frame; "" if all functions are listed
    searched: bool
    unreadable: str  # error of an invalid search expression
    all_url: str  # URL of the page with every row
    more_url: str  # URL of the next rows; "" if there are none
    focus_url: str  # the caller appends the value of `focus`


def functions_page(
    context: QueryContext,
    params: PageParams,
    results: MergedPage,
    project: Project,
    seen: str,
    page: int = 1,
) -> FunctionsPage:
    """Return one page of rows. Raise `DeadlinePassed` or `InvalidQuery`."""
    found = search_functions(context, params, results)
    # After filters, samples and focus, but of all frames: the search and the zoom leave it.
    drawn_total = sum(row.self for row in results.top.rows)
    rows_page = None if params.all_rows else page
    shown = function_list(
        found.top, drawn_total, params.sort_column, is_reversed(params.sort), rows_page
    )
    here = reverse("flame_functions", args=[project.project_id])
    further = f"{_address(params, seen)}&page={page + 1}"
    apart = replace(params, focus="", root=None, frame="", view="flame", search="", all_rows=False)
    return FunctionsPage(
        columns=columns(params),
        list=shown,
        all=found.all,
        zoomed_name=found.zoomed_name,
        searched=bool(params.search) and not found.unreadable,
        unreadable=found.unreadable,
        all_url=flame_url(project, replace(params, all_rows=True)),
        more_url=f"{here}?{further}" if shown.more else "",
        focus_url=f"{flame_url(project, apart)}&focus=",
    )


def _address(params: PageParams, seen: str) -> str:
    # The list alone has no graph whose zoom it could follow.
    frame = params.frame if params.view != LIST_VIEW else ""
    shown = [("sort", params.sort), ("search", params.search), ("frame", frame)]
    return f"{data_address(params, seen)}&{urlencode([pair for pair in shown if pair[1]])}"
