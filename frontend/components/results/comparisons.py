"""Baselines offered for a selection: previous version, period or release, and other versions.

Snapshots are compared with the last day of a service.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from common.time_text import time_text
from endpoints.params.selection import LABEL
from frontend.components.charts.version_marks import VersionMark, list_releases
from frontend.page_query import PageQuery, sort_by_last_seen
from frontend.params.formats import span_text
from frontend.params.page_params import DEFAULT_VIEW, PageParams
from frontend.params.restrictions import restrict
from profiles.query import MenuChoice, OptionsResult, SavedTreeInfo, ServiceName

_MOST_VERSIONS = 5
_MOST_LABELS, _MOST_LABEL_VALUES = 3, 8
MENU_OF_SELECTED = "labels-of-selected"  # id of a menu of the compare page
_MOST_SERVICES = 20
_LIVE_SPAN = timedelta(days=1)
_LONGEST = 30  # characters of a version name in the menu

Overrides = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    parameters: str  # query string of the compare page
    label: str = ""  # name of the label of which a value is offered as the baseline
    menu_id: str = ""  # of the compare page, in which the selected side's value is chosen next


def offer_comparisons(
    page_query: PageQuery, params: PageParams, options: OptionsResult
) -> list[Comparison]:
    """Return the comparisons offered for what a page shows: profiles, or a snapshot."""
    if page_query.snapshot:
        return with_services(page_query.snapshot, params, page_query.services)
    return comparisons(params, options, list_releases(page_query.context, page_query.selection))


def comparisons(
    params: PageParams, options: OptionsResult, releases: Sequence[VersionMark]
) -> list[Comparison]:
    """Return the offered comparisons; a single profile has none, as it has no average.

    `options` are those of the selected range, `releases` all versions of the service by time. If
    the selection has no version, comparisons with another version select the newest in the range.
    """
    if params.profile:
        return []
    plain = _plain(params)
    inside = _sort_versions(options, releases)
    version = _find_version(plain, inside)
    earlier = inside[: inside.index(version)] if version in inside else []
    others = [each for each in inside if each != version and each not in earlier[-1:]]
    found = [Comparison(_("Previous period"), plain.parameters())]
    if version:
        selected = replace(plain, versions=(version,))
        found = [
            *_previous_version(selected, earlier),
            *found,
            *_last_release(selected, version, releases),
            *_other_versions(selected, others),
        ]
    return [*found, *_all_others(plain, options), *_label_values(plain, options)]


def with_services(
    snapshot: SavedTreeInfo, params: PageParams, services: Sequence[ServiceName]
) -> list[Comparison]:
    """Return comparisons of a snapshot with the last day of the services that have its type.

    The service that the snapshot was taken of comes first, then those with the latest profiles.
    """
    plain = replace(
        PageParams(type=snapshot.type, snapshot=snapshot.id, span=_LIVE_SPAN),
        metric=params.metric,
        filters=params.filters,
    )
    found = [each.service for each in sort_by_last_seen(services) if snapshot.type in each.types]
    ordered = sorted(found, key=lambda name: name != snapshot.service)
    name = _("%(service)s, last day")
    return [
        _with_baseline(name % {"service": each}, replace(plain, service=each), [("snapshot", "")])
        for each in ordered[:_MOST_SERVICES]
    ]


def start(params: PageParams, options: OptionsResult, releases: Sequence[VersionMark]) -> str:
    """Return the query string of a new comparison, whose sides have the same time range.

    They are the selected version, by default the newest, and the one before it, if the range has
    profiles of two versions; the oldest is compared with the newest. Other restrictions stay.
    """
    plain = _plain(params)
    inside = _sort_versions(options, releases)
    version = _find_version(plain, inside)
    if len(inside) < 2 or version not in inside:
        return _compare_same_range("", plain, []).parameters
    selected = replace(plain, versions=(version,))
    before = inside[: inside.index(version)] or inside
    return _previous_version(selected, before)[0].parameters


def _plain(params: PageParams) -> PageParams:
    plain = restrict(params.data_params(), "compare")
    return replace(plain, view=DEFAULT_VIEW, root=None, split=None)


def _compare_same_range(name: str, selected: PageParams, overrides: Overrides) -> Comparison:
    """Return a comparison with other profiles of the same time range.

    The end is stated, so that the range stays when another service drops the baseline's version.
    """
    end = time_text(selected.end) if selected.end else "now"
    return _with_baseline(name, selected, [*overrides, ("end", end)])


def _with_baseline(name: str, selected: PageParams, overrides: Overrides) -> Comparison:
    of_baseline = urlencode([(f"b.{parameter}", value) for parameter, value in overrides])
    return Comparison(name, f"{selected.parameters()}&{of_baseline}")


def _previous_version(selected: PageParams, earlier: Sequence[str]) -> list[Comparison]:
    """Offer the latest of the earlier versions that have profiles in the same range."""
    if not earlier:
        return []
    name = _("Previous version (%(version)s)") % {"version": earlier[-1][:_LONGEST]}
    return [_compare_same_range(name, selected, [("version", earlier[-1])])]


def _last_release(
    selected: PageParams, version: str, releases: Sequence[VersionMark]
) -> list[Comparison]:
    """Offer the release before a version, in the period before that version appeared."""
    began = next((each.first for each in releases if each.version == version), None)
    before = [each.version for each in releases if began and each.first < began]
    if not began or not before:
        return []
    names = {"version": version[:_LONGEST], "before": before[-1][:_LONGEST]}
    overrides = [
        ("version", before[-1]),
        ("span", span_text(selected.span)),
        ("end", time_text(began)),
    ]
    name = _("Last release before %(version)s (%(before)s)") % names
    return [_with_baseline(name, selected, overrides)]


def _other_versions(selected: PageParams, others: Sequence[str]) -> list[Comparison]:
    """Offer the latest of the other versions that have profiles in the same range."""
    name = _("Version %(version)s")
    return [
        _compare_same_range(name % {"version": other[:_LONGEST]}, selected, [("version", other)])
        for other in others[-_MOST_VERSIONS:]
    ]


def _find_version(params: PageParams, inside: Sequence[str]) -> str:
    """Return the selected version, by default the newest in the range; "" for several or none."""
    if len(params.versions) > 1:
        return ""
    return params.versions[0] if params.versions else "".join(inside[-1:])


def _sort_versions(options: OptionsResult, releases: Sequence[VersionMark]) -> list[str]:
    """Return the versions that have profiles in the range, in the order of their release.

    Versions that are not known as releases come first.
    """
    firsts: dict[str, datetime] = {each.version: each.first for each in releases}
    versions = sorted(choice.value for choice in options.versions if choice.value)
    unknown = [version for version in versions if version not in firsts]
    released = [version for version in versions if version in firsts]
    return [*unknown, *sorted(released, key=lambda version: firsts[version])]


def _all_others(params: PageParams, options: OptionsResult) -> list[Comparison]:
    """Offer all other values of the only filter that is set.

    The complement of several filters cannot be expressed as a selection.
    """
    of_label = _("All other values of %(label)s")
    chosen = [
        *([("version", options.versions, params.versions)] if params.versions else []),
        *([("zone", options.zones, params.zones)] if params.zones else []),
        *(
            (LABEL.prefix + name, options.labels.get(name, ()), values)
            for name, values in params.labels
        ),
    ]
    if len(chosen) != 1:
        return []
    parameter, offered, values = chosen[0]
    others = _others(offered, values)
    names = {"version": _("All other versions"), "zone": _("All other zones")}
    label = parameter.removeprefix(LABEL.prefix)[:_LONGEST]
    name = names.get(parameter) or of_label % {"label": label}
    if not others:
        return []
    return [_compare_same_range(name, params, [(parameter, other) for other in others])]


def _label_values(params: PageParams, options: OptionsResult) -> list[Comparison]:
    """Offer values of labels as the baseline, for a comparison of two instances for example.

    A selection without a value of the label leads to the menu of the selected side's labels.
    """
    chosen = dict(params.labels)
    found = []
    several = [name for name, values in options.labels.items() if len(values) > 1]
    for name in several[:_MOST_LABELS]:
        for value in _others(options.labels[name], chosen.get(name, ()))[:_MOST_LABEL_VALUES]:
            compared = _compare_same_range(value[:_LONGEST], params, [(LABEL.prefix + name, value)])
            menu_id = "" if name in chosen else MENU_OF_SELECTED
            found.append(replace(compared, label=name[:_LONGEST], menu_id=menu_id))
    return found


def _others(offered: Sequence[MenuChoice], chosen: Sequence[str]) -> list[str]:
    return [choice.value for choice in offered if choice.value and choice.value not in chosen]
