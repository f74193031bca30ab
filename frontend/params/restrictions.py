"""Restrictions of a selection, and the pages that cannot apply one of them.

A page applies what it can, shows the rest struck through with the reason, and keeps it in its URL,
so that the next page that can apply it does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from endpoints.params.reader import LenientReader
from endpoints.params.selection import (
    DEFAULT_RANGE,
    LABEL,
    PROFILE,
    SAMPLE,
    UNSET,
    VERSION,
    WEIGHT,
    WEIGHTS,
    ZONE,
    TimeRange,
)
from endpoints.params.view import FILTER, FOCUS, METRIC
from frontend.params.page_params import (
    DEFAULT_VIEW,
    FLAME_PAGE_NAMES,
    SNAPSHOT,
    PageParams,
    page_params,
)
from frontend.params.url_parameter import Pair
from profiles.query import GroupKind

PAGES_OF_PROFILES = ("flame", "compare", "history", "breakdown", "profiles")
OF_SNAPSHOT = "snapshot"  # in place of the page, where a snapshot is shown

_OF_SNAPSHOT = {OF_SNAPSHOT: _("A snapshot cannot be restricted.")}
_ALONE = _("A single profile has no values over time.")
_STORED = _("A snapshot has no values over time.")


@dataclass(frozen=True, slots=True)
class SelectionRestriction:
    """Kind of restriction; `reasons` says by page why the page does not apply it."""

    matches: Callable[[str, str], bool]  # name and value of a URL parameter
    cleared: Callable[[PageParams], PageParams]
    reasons: Mapping[str, Promise]


def _match_name(name: str) -> Callable[[str, str], bool]:
    return lambda parameter, _value: parameter == name


def _is_sample_label(name: str, value: str) -> bool:
    return name.startswith(SAMPLE.prefix) or (
        name == UNSET.name and value.startswith(SAMPLE.prefix)
    )


def _is_profile_label(name: str, value: str) -> bool:
    is_unset = name == UNSET.name and not value.startswith(SAMPLE.prefix)
    return name.startswith(LABEL.prefix) or is_unset


def _clear_labels(params: PageParams) -> PageParams:
    unset = tuple(each for each in params.unset if each.kind is GroupKind.SAMPLE)
    return replace(params, labels=(), unset=unset)


RESTRICTIONS = (
    SelectionRestriction(
        _match_name(ZONE.name), lambda params: replace(params, zones=()), _OF_SNAPSHOT
    ),
    SelectionRestriction(
        _match_name(VERSION.name), lambda params: replace(params, versions=()), _OF_SNAPSHOT
    ),
    SelectionRestriction(_is_profile_label, _clear_labels, _OF_SNAPSHOT),
    SelectionRestriction(
        _is_sample_label,
        PageParams.drop_sample_labels,
        _OF_SNAPSHOT | {"profiles": _("Profiles are listed with all of their samples.")},
    ),
    SelectionRestriction(
        _match_name(WEIGHT.name), lambda params: replace(params, weight=None), _OF_SNAPSHOT
    ),
    SelectionRestriction(
        _match_name(WEIGHTS.name), lambda params: replace(params, weights=None), _OF_SNAPSHOT
    ),
    SelectionRestriction(
        _match_name(PROFILE.name),
        lambda params: replace(params, profile=""),
        _OF_SNAPSHOT
        | {
            "compare": _("A comparison needs more than one profile."),
            "history": _ALONE,
            "breakdown": _ALONE,
            "profiles": _("This page lists all profiles."),
        },
    ),
    SelectionRestriction(
        _match_name(METRIC.name),
        lambda params: replace(params, metric=""),
        {"profiles": _("Profiles are listed by the default metric of their type.")},
    ),
    SelectionRestriction(
        _match_name(FILTER.name),
        lambda params: replace(params, filters=()),
        {"profiles": _("Filters of frames do not select profiles.")},
    ),
    SelectionRestriction(
        _match_name(FOCUS.name),
        lambda params: replace(params, focus=""),
        {
            "compare": _("A comparison shows all stacks."),
            "profiles": _("Profiles are listed with all of their stacks."),
        },
    ),
    SelectionRestriction(
        _match_name(SNAPSHOT.name),
        lambda params: replace(params, snapshot=""),
        {
            "history": _STORED,
            "breakdown": _STORED,
            "profiles": _("A snapshot has no individual profiles."),
        },
    ),
)


def find_restriction(pair: Pair) -> SelectionRestriction | None:
    return next((each for each in RESTRICTIONS if each.matches(*pair)), None)


def list_restrictions(params: PageParams) -> tuple[Pair, ...]:
    """Return the URL parameters that restrict what is selected, those that are left out, too."""
    return tuple(pair for pair in params.pairs() if find_restriction(pair))


def get_reason(pair: Pair, page: str) -> str:
    """Return why a page does not apply a parameter; "" if it does."""
    restriction = find_restriction(pair)
    return str(restriction.reasons.get(page, "")) if restriction else ""


def restrict(params: PageParams, page: str) -> PageParams:
    """Return the parameters that the page applies; `left_out` keeps the others."""
    lacking = [each for each in RESTRICTIONS if page in each.reasons]
    left_out = tuple(
        pair for pair in params.pairs() if any(each.matches(*pair) for each in lacking)
    )
    for each in lacking:
        params = each.cleared(params)
    return replace(params, left_out=tuple(dict.fromkeys([*params.left_out, *left_out])))


def read_data_params(
    reader: LenientReader, now: datetime, page: str, default: TimeRange = DEFAULT_RANGE
) -> PageParams:
    """Read the parameters that select the data of a page other than the flame page, top down."""
    params = page_params(reader.without(*FLAME_PAGE_NAMES), now, default)
    return replace(restrict(params.data_params(), page), view=DEFAULT_VIEW, root=None)
