"""View model of the profiles page: picker, heat map, list and empty states."""

from dataclasses import replace
from datetime import datetime

from django.urls import reverse

from frontend.components.results.coverage_notices import left_out
from frontend.components.results.empty_state import EmptyStateLinks, explain_no_profiles, with_links
from frontend.components.results.page_context import build_page_context
from frontend.components.selection.selecting import selection_context
from frontend.page_query import PageQuery, load_options, resolve_page_query
from frontend.pages.profiles import heat_map
from frontend.pages.profiles.params import ProfileQuery
from frontend.pages.profiles.profile_list import ProfileList, list_profiles
from frontend.params.page_params import ParsedParams
from profiles.query import (
    HeatMapResult,
    InvalidQuery,
    OptionsResult,
    ProfileSelection,
    QueryContext,
    run_heat_map,
)
from projects.models import Project


def context(
    queries: QueryContext,
    project: Project,
    query: ProfileQuery,
    notices: tuple[str, ...],
    now: datetime,
) -> dict[str, object]:
    """Return the template context; `query` is None if the project has no service."""
    url = reverse("profiles", args=[project.project_id])
    reading = ParsedParams(query.params, notices)

    def build(page_query: PageQuery) -> dict[str, object]:
        return _build_context(page_query, query, url)

    return {"query": query} | build_page_context("profiles", queries, project, reading, now, build)


def build_list_context(
    queries: QueryContext, project: Project, query: ProfileQuery, now: datetime
) -> dict[str, object] | None:
    """Return the context of the list alone; None if the project has no service.

    Raise `DeadlinePassed`.
    """
    page_query = resolve_page_query(queries, project, ParsedParams(query.params, ()), now)
    if page_query is None:
        return None
    query = replace(query, params=page_query.params)
    selection = query.selection(
        project.pk, page_query.selection.service, page_query.selection.type, now
    )
    query, found, _unread = _load_list(queries, query, selection)
    return {"project": project, "query": query, "list": found, "selection": selection}


def _build_context(page_query: PageQuery, query: ProfileQuery, url: str) -> dict[str, object]:
    query = replace(query, params=page_query.params)
    selection = query.selection(
        page_query.project.pk,
        page_query.selection.service,
        page_query.selection.type,
        page_query.now,
    )
    options = load_options(page_query.context, page_query.selection)
    query, found, unread = _load_list(page_query.context, query, selection)
    heat_map_of = run_heat_map(
        page_query.context, replace(page_query.profile_selection, total_range=None)
    )
    return {
        **selection_context(page_query, options, "profiles"),
        **_map(heat_map_of, query),
        "query": query,
        "selection": selection,
        "notices": (*page_query.notices, *unread, *left_out(heat_map_of.coverage)),
        "list": found,
        "empty": _empty(page_query, query, found, options, url),
    }


def _map(result: HeatMapResult, query: ProfileQuery) -> dict[str, object]:
    """Return the heat map of the whole range, ignoring the selection; its axis without profiles."""
    if not result.coverage.profiles:
        return {"empty_map": heat_map.build_axis(result)}
    if query.table:
        return {"map_table": heat_map.table(result)}
    return {"map": heat_map.picture(result, query)}


def _load_list(
    context: QueryContext, query: ProfileQuery, selection: ProfileSelection
) -> tuple[ProfileQuery, ProfileList, tuple[str, ...]]:
    """List a page of profiles; with an invalid page cursor the first page, and a notice."""
    try:
        return query, list_profiles(context, query, selection), ()
    except InvalidQuery as error:
        first = replace(query, page="")
        return first, list_profiles(context, first, selection), (str(error),)


def _empty(
    page_query: PageQuery, query: ProfileQuery, found: ProfileList, options: OptionsResult, url: str
) -> EmptyStateLinks | None:
    """Return the empty state of the page, if the range has no profiles.

    None if only the selected region is empty: the list itself says so.
    """
    if found.coverage.profiles or query.narrowed:
        return None
    return with_links(explain_no_profiles(page_query, options), url)
