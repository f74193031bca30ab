"""Comparisons offered for a selection: the time before, another version, the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from frontend.queries.params import DEFAULT_VIEW, LABEL, PageParams
from profiles.query import MenuChoice, OptionsResult
from projects.models import Project

_MOST_VERSIONS = 5
_LONGEST = 30  # characters of a version name in the menu


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    url: str


def comparisons(asked: PageParams, options: OptionsResult, project: Project) -> list[Comparison]:
    """Return the offered comparisons; a single profile has none, as it has no average."""
    if asked.profile:
        return []
    plain = replace(asked.of_the_data(), view=DEFAULT_VIEW, focus="", root=None)
    here = f"{reverse('compare', args=[project.project_id])}?{plain.parameters()}"

    def against(name: str, parameter: str, values: Sequence[str]) -> Comparison:
        return Comparison(name, f"{here}&{urlencode([(f'b.{parameter}', v) for v in values])}")

    found = [Comparison(_("The time before"), here)]
    others = _others(options.versions, asked.versions)
    if len(asked.versions) == 1:
        sentence = _("Version %(version)s")
        found += [
            against(sentence % {"version": version[:_LONGEST]}, "version", [version])
            for version in others[-_MOST_VERSIONS:]
        ]
    rest = _rest(asked, options)
    return [*found, against(_("The rest of the service"), *rest)] if rest else found


def _rest(asked: PageParams, options: OptionsResult) -> tuple[str, list[str]] | None:
    """Return all other values of the only filter that is set, None for several filters.

    The complement of several filters cannot be expressed as a selection.
    """
    chosen = [
        *([("version", options.versions, asked.versions)] if asked.versions else []),
        *([("zone", options.zones, asked.zones)] if asked.zones else []),
        *((LABEL + name, options.labels.get(name, ()), values) for name, values in asked.labels),
    ]
    if len(chosen) != 1:
        return None
    parameter, offered, values = chosen[0]
    others = _others(offered, values)
    return (parameter, others) if others else None


def _others(offered: Sequence[MenuChoice], chosen: Sequence[str]) -> list[str]:
    return [choice.value for choice in offered if choice.value and choice.value not in chosen]
