"""Function list: rows that follow the search and zoom of the graph, sorted and paged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse

from frontend.components.functions.name_search import build_name_matcher
from frontend.components.functions.package_colours import PackageColours
from frontend.components.functions.packages import split_function
from frontend.pages.flame.controls import SortColumn, columns
from frontend.pages.flame.merged_tree import MergedPage, data_address
from frontend.params.formats import is_reversed
from frontend.params.page_links import flame_url
from frontend.params.page_params import LIST_VIEW, PageParams
from frontend.text.display_names import SplitName
from frontend.text.units import format_count, format_percent, format_value
from profiles.query import (
    FunctionRow,
    QueryContext,
    TopResult,
    TreeResult,
    run_top_below,
)
from projects.models import Project

PAGE_ROWS = 30  # about 15 kB, so that a fragment stays below 30 kB

_KEYS: dict[str, Callable[[FunctionRow], float]] = {
    "self": lambda row: row.self,
    "total": lambda row: row.total,
    "count": lambda row: row.count,
}


@dataclass(frozen=True, slots=True)
class FunctionListRow:
    """One function: averages per profile, and shares of the graph's total."""

    name: str
    split: SplitName
    swatch: str  # CSS class
    file: str
    self: str
    self_share: str
    total: str
    total_share: str
    count: str
    bar: str  # percent of the sorted column's largest value; "" if sorted by name


@dataclass(frozen=True, slots=True)
class FunctionList:
    lines: list[FunctionListRow]
    until: int  # number of rows shown, including earlier pages
    all: int  # number of functions

    @property
    def more(self) -> int:
        return self.all - self.until


def function_list(
    top: TopResult,
    colours: PackageColours,
    whole: int,
    sort: str,
    reverse: bool,
    page: int | None,
) -> FunctionList:
    """Return page number `page` (from 1) of PAGE_ROWS rows; None for every row.

    `whole` is the total of which the graph shows shares, too.
    """
    rows = _sort_rows(top.rows, sort, reverse)
    first = 0 if page is None else (page - 1) * PAGE_ROWS
    shown = rows if page is None else rows[first : first + PAGE_ROWS]
    key = _KEYS.get(sort)
    largest = max(map(key, rows), default=0) if key else 0
    profiles, unit = max(1, top.coverage.profiles), top.metric.unit

    def line(row: FunctionRow) -> FunctionListRow:
        return FunctionListRow(
            name=row.name,
            split=split_function(row.name, row.file),
            swatch=colours.find_swatch_class(row.name, row.file),
            file=row.file,
            self=format_value(row.self / profiles, unit),
            self_share=format_percent(row.self, whole),
            total=format_value(row.total / profiles, unit),
            total_share=format_percent(row.total, whole),
            count=format_count(row.count),
            bar=f"{key(row) / largest * 100:.1f}%" if key and largest else "",
        )

    return FunctionList([line(row) for row in shown], min(first + len(shown), len(rows)), len(rows))


def _sort_rows(rows: Sequence[FunctionRow], sort: str, reverse: bool) -> list[FunctionRow]:
    """Sort numbers in descending and names in ascending order; ties by self, total and name."""
    by_name = sorted(rows, key=lambda row: (-row.self, -row.total, row.name, row.file))
    if sort == "name":
        return sorted(by_name, key=lambda row: row.name, reverse=reverse)
    return sorted(by_name, key=_KEYS[sort], reverse=not reverse)


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
        found.top,
        results.get_colours(context.check),
        drawn_total,
        params.sort_column,
        is_reversed(params.sort),
        rows_page,
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
