"""Empty states: the reason why a page has no data, and the most useful next actions as links."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from frontend.components.selection.filter_chips import NAMES
from frontend.page_query import PageQuery, sort_by_last_seen
from frontend.params.page_params import PageParams
from frontend.text.display_names import type_name
from frontend.text.units import format_count
from profiles.query import (
    Coverage,
    GroupKind,
    NearestProfiles,
    OptionsResult,
    Selection,
    ServiceName,
    run_nearest,
)
from projects.profile_types import ProfileType

_WIDE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    params: PageParams
    primary: bool = False
    time: datetime | None = None  # shown after the name


@dataclass(frozen=True, slots=True)
class EmptyState:
    title: str
    text: str
    actions: tuple[Action, ...] = ()


def no_profiles_state(
    params: PageParams,
    selection: Selection,
    services: Sequence[ServiceName],
    matched: int,
    nearest: NearestProfiles,
    now: datetime,
) -> EmptyState:
    """Return the empty state of a page whose selection matches no profiles.

    `matched` is the number of profiles that match in all zones and versions; `nearest` are those
    of the service and type around the range.
    """
    type_title = type_name(selection.type)
    row = next((row for row in services if row.service == selection.service), None)
    if row is None:
        return _unknown_service_state(params, services)
    narrowed = _find_restricting_filter(params, type_title, matched) if matched else None
    if narrowed:
        return narrowed
    if not any(nearest):
        return _never_stored_state(params, selection, row)
    return _quiet_range_state(params, type_title, nearest, now)


def _never_stored_state(params: PageParams, selection: Selection, row: ServiceName) -> EmptyState:
    """Explain that no profile of the service and type is stored, at any time."""
    type_title = type_name(selection.type)
    if not row.types:
        return _first_profile_state(row)
    if selection.type not in row.types:
        return _other_types_state(params, type_title, row)
    return _retention_state(type_title, row)


def _unknown_service_state(params: PageParams, services: Sequence[ServiceName]) -> EmptyState:
    title = _("No service named “%(service)s”") % {"service": params.service[:80]}
    text = _("It may have another name, or it has not sent profiles to this project yet.")
    # Only the range: labels, filters and functions of one service are not those of another.
    first = tuple(
        Action(row.service, PageParams(service=row.service, span=params.span, end=params.end))
        for row in sort_by_last_seen(services)[:3]
    )
    return EmptyState(title, text, actions=first)


def _find_restricting_filter(
    params: PageParams, type_title: str, matched: int
) -> EmptyState | None:
    """Explain a filter without which there are profiles; None if there is no such filter."""
    if params.profile or params.weights:
        return _single_profile_state(params, matched)
    if params != params.drop_profile_labels():
        return _label_filter_state(params, type_title, matched)
    return None


def _single_profile_state(params: PageParams, matched: int) -> EmptyState:
    """Explain a link to a profile that is gone, or to a weight range that no profile is in."""
    title = _("Profile not found") if params.profile else _("No profiles in this range")
    text = ngettext(
        "There is %(n)s profile in this time range.",
        "There are %(n)s profiles in this time range.",
        matched,
    )
    every = Action(_("Show all profiles"), replace(params, profile="", weights=None), True)
    return EmptyState(title, text % {"n": format_count(matched)}, actions=(every,))


def _label_filter_state(params: PageParams, type_title: str, matched: int) -> EmptyState:
    is_by_label = any(each.kind is GroupKind.LABEL for each in params.unset)
    if params.labels or is_by_label:
        title = _("No %(type)s profiles with these labels") % {"type": type_title}
        name = _("All labels, zones and versions")
    else:
        title = _("No %(type)s profiles of this zone and version") % {"type": type_title}
        name = _("All zones and versions")
    text = ngettext(
        "Without this filter there is %(n)s profile in this range.",
        "Without this filter there are %(n)s profiles in this range.",
        matched,
    )
    wide = Action(name, params.drop_profile_labels(), True)
    return EmptyState(title, text % {"n": format_count(matched)}, actions=(wide,))


def _first_profile_state(row: ServiceName) -> EmptyState:
    title = _("No profiles from %(service)s yet") % {"service": row.service}
    text = _("Its agent is connected. The first profile usually arrives within two minutes.")
    return EmptyState(title, text)


def _other_types_state(params: PageParams, type_title: str, row: ServiceName) -> EmptyState:
    title = _("%(service)s sends no %(type)s profiles") % {
        "service": row.service,
        "type": type_title,
    }
    names = _(", ").join(type_name(other_type) for other_type in row.types)
    text = _("Available types: %(types)s.") % {"types": names}
    actions = tuple(
        Action(type_name(other_type), replace(params, type=other_type, metric=""), i == 0)
        for i, other_type in enumerate(row.types[:3])
    )
    return EmptyState(title, text, actions=actions)


def _retention_state(type_title: str, row: ServiceName) -> EmptyState:
    values = {"type": type_title, "service": row.service}
    title = _("No %(type)s profiles of %(service)s are left") % values
    return EmptyState(title, _("They were older than the project’s retention and were deleted."))


def _quiet_range_state(
    params: PageParams, type_title: str, nearest: NearestProfiles, now: datetime
) -> EmptyState:
    title = _("No %(type)s profiles in this range") % {"type": type_title}
    text = _("No profile was captured then, or it has been deleted. Nearest profiles:")
    plain = replace(params.drop_profile_labels(), weight=None, weights=None, profile="")
    actions = []
    if nearest.before:
        # The end of a range is exclusive, and URLs have whole seconds.
        before = replace(plain, end=nearest.before + timedelta(minutes=1))
        actions.append(Action(_("Earlier:"), before, True, nearest.before))
    if nearest.after:
        end = nearest.after + params.span
        after = replace(plain, end=end if end < now else None)
        actions.append(Action(_("Later:"), after, not actions, nearest.after))
    return EmptyState(title, text, actions=tuple(actions))


def _zero_values_state(selection: Selection, coverage: Coverage) -> EmptyState:
    """Return the empty state for profiles whose values are all zero."""
    counted = ngettext("%(n)s profile", "%(n)s profiles", coverage.profiles)
    profiles = counted % {"n": format_count(coverage.profiles)}
    if selection.type is ProfileType.CONTENTION:
        text = _("%(profiles)s without lock waits.")
        return EmptyState(_("No lock contention"), text % {"profiles": profiles})
    title = _("All values are zero")
    text = _("%(profiles)s, all with value zero.")
    return EmptyState(title, text % {"profiles": profiles})


def _no_stacks_state(params: PageParams) -> EmptyState:
    """Return the empty state for profiles of which the filters leave no stack."""
    last = params.filters[-1] if params.filters else None
    text = _("Matching is case-sensitive. Put regular expressions between slashes.")
    actions = []
    if last and len(params.filters) > 1:
        name = _("Remove “%(filter)s”") % {"filter": NAMES[last.option]}
        actions.append(Action(name, replace(params, filters=params.filters[:-1]), True))
    clear = replace(params, filters=(), root=None)
    actions.append(Action(_("Clear all filters"), clear, not actions))
    title = ngettext(
        "No stacks match this filter", "No stacks match these filters", len(params.filters)
    )
    return EmptyState(title, text, actions=tuple(actions))


def _no_samples_state(params: PageParams) -> EmptyState:
    """Return the empty state for profiles without samples of the selected labels."""
    title = _("No samples with these labels")
    text = _("The selected profiles have no samples with all of them.")
    every = replace(params.drop_sample_labels(), root=None)
    return EmptyState(title, text, actions=(Action(_("Show all samples"), every, True),))


def _no_focus_state(params: PageParams) -> EmptyState:
    """Return the empty state for a focused function that no shown stack reaches."""
    title = _("Function not found")
    text = _("“%(name)s” is not in the selected profiles and stacks.")
    leave = Action(_("Clear focus"), replace(params, focus="", root=None), True)
    actions = [leave]
    if params.filters:
        actions.append(Action(_("Clear all filters"), replace(params, filters=())))
    return EmptyState(title, text % {"name": params.focus[:200]}, actions=tuple(actions))


def nothing_to_compare_state(params: PageParams) -> EmptyState:
    title = _("No profiles on either side")
    text = _("Choose a longer time range, or other versions, zones or end times.")
    wide = Action(_("Last 7 days"), replace(params, span=_WIDE, end=None), True)
    return EmptyState(title, text, actions=(wide,) if params.span < _WIDE else ())


def deadline_state(params: PageParams, seconds: float) -> EmptyState:
    title = _("Query timed out after %(n)d s") % {"n": seconds}
    text = _("The selection has too many profiles. Choose a shorter time range.")
    shorter = Action(_("Half the time range"), replace(params, span=params.span / 2), True)
    return EmptyState(title, text, actions=(shorter,))


def unreadable_state(reason: str) -> EmptyState:
    """Return the empty state for a result that cannot be shown; `why` is a sentence."""
    return EmptyState(_("This result cannot be shown"), reason)


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str
    primary: bool
    time: datetime | None


@dataclass(frozen=True, slots=True)
class EmptyStateLinks:
    state: EmptyState
    links: tuple[Link, ...]


def with_links(nothing: EmptyState, url: str) -> EmptyStateLinks:
    """Add a link for each action of an empty state; `url` is the page's, without a query string."""
    links = tuple(
        Link(action.name, f"{url}?{action.params.parameters()}", action.primary, action.time)
        for action in nothing.actions
    )
    return EmptyStateLinks(nothing, links)


def explain_no_profiles(page_query: PageQuery, options: OptionsResult) -> EmptyState:
    """Return the empty state of a selection without profiles, after the queries that it needs."""
    matched = sum(zone.profiles for zone in options.zones)
    selection = page_query.selection
    bounds = selection.start, selection.end
    nearest = run_nearest(page_query.context, selection.service, selection.type, *bounds)
    return no_profiles_state(
        page_query.params, selection, page_query.services, matched, nearest, page_query.now
    )


def explain_no_values(page_query: PageQuery, coverage: Coverage) -> EmptyState:
    """Return the empty state of profiles of which no values are left to show."""
    params = page_query.params
    if not coverage.total:
        return _zero_values_state(page_query.selection, coverage)
    if params.focus:
        return _no_focus_state(params)
    if params.selects_samples and not params.filters:
        return _no_samples_state(params)
    return _no_stacks_state(params)
