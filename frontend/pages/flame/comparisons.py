"""Comparisons offered for a selection: the time before, another version, the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from endpoints.params.selection import LABEL
from frontend.components.services import by_last_seen
from frontend.queries.params import DEFAULT_VIEW, PageParams
from profiles.query import MenuChoice, OptionsResult, ServiceName, SnapshotInfo
from projects.models import Project

_MOST_VERSIONS = 5
_MOST_SERVICES = 20
_LIVE_SPAN = timedelta(days=1)
_LONGEST = 30  # characters of a version name in the menu


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    url: str


def comparisons(params: PageParams, options: OptionsResult, project: Project) -> list[Comparison]:
    """Return the offered comparisons; a single profile has none, as it has no average."""
    if params.profile:
        return []
    plain = replace(params.of_the_data(), view=DEFAULT_VIEW, focus="", root=None)
    here = f"{reverse('compare', args=[project.project_id])}?{plain.parameters()}"

    def against(name: str, parameter: str, values: Sequence[str]) -> Comparison:
        return Comparison(name, f"{here}&{urlencode([(f'b.{parameter}', v) for v in values])}")

    found = [Comparison(_("Previous period"), here)]
    others = _others(options.versions, params.versions)
    if len(params.versions) == 1:
        sentence = _("Version %(version)s")
        found += [
            against(sentence % {"version": version[:_LONGEST]}, "version", [version])
            for version in others[-_MOST_VERSIONS:]
        ]
    rest = _rest(params, options)
    return [*found, against(_("All other versions"), *rest)] if rest else found


def with_services(
    snapshot: SnapshotInfo,
    params: PageParams,
    services: Sequence[ServiceName],
    project: Project,
) -> list[Comparison]:
    """Return comparisons of a snapshot with the last day of the services that have its type.

    The service that the snapshot was taken of comes first, then those with the latest profiles.
    """
    plain = replace(
        PageParams(type=snapshot.type, snapshot=snapshot.id, span=_LIVE_SPAN),
        metric=params.metric,
        filters=params.filters,
    )
    here = reverse("compare", args=[project.project_id])
    found = [each.service for each in by_last_seen(services) if snapshot.type in each.types]
    ordered = sorted(found, key=lambda name: name != snapshot.service)
    sentence = _("%(service)s, last day")
    return [
        Comparison(
            sentence % {"service": name},
            f"{here}?{replace(plain, service=name).parameters()}&b.snapshot=",
        )
        for name in ordered[:_MOST_SERVICES]
    ]


def _rest(params: PageParams, options: OptionsResult) -> tuple[str, list[str]] | None:
    """Return all other values of the only filter that is set, None for several filters.

    The complement of several filters cannot be expressed as a selection.
    """
    chosen = [
        *([("version", options.versions, params.versions)] if params.versions else []),
        *([("zone", options.zones, params.zones)] if params.zones else []),
        *(
            (LABEL.prefix + name, options.labels.get(name, ()), values)
            for name, values in params.labels
        ),
    ]
    if len(chosen) != 1:
        return None
    parameter, offered, values = chosen[0]
    others = _others(offered, values)
    return (parameter, others) if others else None


def _others(offered: Sequence[MenuChoice], chosen: Sequence[str]) -> list[str]:
    return [choice.value for choice in offered if choice.value and choice.value not in chosen]
