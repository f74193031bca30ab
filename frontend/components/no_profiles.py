"""Empty state of a selection without profiles, including the queries that only it needs."""

from frontend.components import empty_state
from frontend.components.empty_state import EmptyState
from frontend.queries.page_query import PageQuery
from profiles.query import OptionsResult, run_last_profile


def no_profiles(of: PageQuery, options: OptionsResult) -> EmptyState:
    matched = sum(zone.profiles for zone in options.zones)
    last = run_last_profile(of.project.pk, of.selection.service)
    return empty_state.without_profiles(of.asked, of.selection, of.services, matched, last)
