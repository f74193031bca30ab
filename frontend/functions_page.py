"""The list of functions with its headings, a page of rows at a time."""

from dataclasses import dataclass, replace

from django.urls import reverse

from frontend.addresses import flame_url
from frontend.controls import Column, columns
from frontend.function_list import FunctionList, function_list
from frontend.merged_page import address_of
from frontend.selection import Asked
from profiles.query import TopResult
from projects.models import Project


@dataclass(frozen=True, slots=True)
class FunctionsPage:
    columns: list[Column]
    list: FunctionList
    all_url: str  # of the page with every row
    more_url: str  # of the rows that follow; "" where there are none
    focus_url: str  # with `focus` to come


def functions_page(
    asked: Asked, top: TopResult, project: Project, seen: str, page: int = 1
) -> FunctionsPage:
    shown = function_list(top, asked.sort, asked.reverse, None if asked.all_rows else page)
    here = reverse("flame_functions", args=[project.project_id])
    further = f"{_address(asked, seen)}&page={page + 1}"
    apart = replace(asked, focus="", root=None, frame="", view="flame", search="", all_rows=False)
    return FunctionsPage(
        columns=columns(asked, project),
        list=shown,
        all_url=flame_url(project, replace(asked, all_rows=True)),
        more_url=f"{here}?{further}" if shown.more else "",
        focus_url=f"{flame_url(project, apart)}&focus=",
    )


def _address(asked: Asked, seen: str) -> str:
    sort = f"-{asked.sort}" if asked.reverse else asked.sort
    return f"{address_of(asked, seen)}&sort={sort}"
