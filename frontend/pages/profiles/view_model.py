"""View model of the profiles page: picker, heat map, list and empty states."""

from dataclasses import replace
from datetime import datetime

from django.urls import reverse

from frontend.components.results import empty_state
from frontend.components.results.coverage_notices import left_out
from frontend.components.results.empty_state import EmptyStateLinks, no_profiles, with_links
from frontend.components.selection.selecting import selecting_context
from frontend.page_query import DEADLINE_SECONDS, PageQuery, options_of, page_query
from frontend.pages.profiles import heat_map
from frontend.pages.profiles.params import ProfileQuery
from frontend.pages.profiles.profile_list import ProfileList, list_profiles
from frontend.params.page_params import ParsedParams
from profiles.query import (
    DeadlinePassed,
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
    """Return the template context; `params` and `list` are None if the project has no service."""
    url = reverse("profiles", args=[project.project_id])
    try:
        with queries.snapshot:
            of = page_query(queries, project, ParsedParams(query.params, notices), now)
            return _shown(of, query, url) if of else {"params": None, "notices": notices}
    except DeadlinePassed:
        late = empty_state.deadline_state(query.params, DEADLINE_SECONDS)
        return {"params": query.params, "notices": notices, "empty": with_links(late, url)}


def listed(
    queries: QueryContext, project: Project, query: ProfileQuery, now: datetime
) -> dict[str, object] | None:
    """Return the context of the list alone; None if the project has no service.

    Raise `DeadlinePassed`.
    """
    of = page_query(queries, project, ParsedParams(query.params, ()), now)
    if of is None:
        return None
    query = replace(query, params=of.params)
    selection = query.selection(project.pk, of.selection.service, of.selection.type, now)
    query, found, _unread = _listed(queries, query, selection)
    return {"project": project, "query": query, "list": found, "selection": selection}


def _shown(of: PageQuery, query: ProfileQuery, url: str) -> dict[str, object]:
    query = replace(query, params=of.params)
    selection = query.selection(of.project.pk, of.selection.service, of.selection.type, of.now)
    options = options_of(of.context, of.selection)
    query, found, unread = _listed(of.context, query, selection)
    heat_map_of = run_heat_map(of.context, replace(of.profile_selection, weights=None))
    return {
        **selecting_context(of, options, "profiles"),
        **_map(heat_map_of, query),
        "params": of.params,
        "query": query,
        "selection": selection,
        "notices": (*of.notices, *unread, *left_out(heat_map_of.coverage)),
        "list": found,
        "empty": _empty(of, query, found, options, url),
    }


def _map(result: HeatMapResult, query: ProfileQuery) -> dict[str, object]:
    """Return the heat map of the whole range, ignoring the selection; its axis without profiles."""
    if not result.coverage.profiles:
        return {"empty_map": heat_map.axis_marks(result)}
    if query.table:
        return {"map_table": heat_map.table(result)}
    return {"map": heat_map.picture(result, query)}


def _listed(
    context: QueryContext, query: ProfileQuery, selection: ProfileSelection
) -> tuple[ProfileQuery, ProfileList, tuple[str, ...]]:
    """List a page of profiles; with an invalid page cursor the first page, and a notice."""
    try:
        return query, list_profiles(context, query, selection), ()
    except InvalidQuery as error:
        first = replace(query, page="")
        return first, list_profiles(context, first, selection), (str(error),)


def _empty(
    of: PageQuery, query: ProfileQuery, found: ProfileList, options: OptionsResult, url: str
) -> EmptyStateLinks | None:
    """Return the empty state of the page, if the range has no profiles.

    None if only the selected region is empty: the list itself says so.
    """
    if found.coverage.profiles or query.narrowed:
        return None
    return with_links(no_profiles(of, options), url)
