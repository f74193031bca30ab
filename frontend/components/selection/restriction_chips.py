"""Chips of the restrictions that a page applies and has no other control for, and of the others."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from endpoints.params.selection import (
    LABEL,
    PROFILE,
    SAMPLE,
    UNSET,
    VERSION,
    WEIGHT,
    WEIGHTS,
    ZONE,
    parse_grouping,
)
from endpoints.params.view import FILTER, FOCUS, METRIC
from frontend.components.selection.filter_chips import NAMES as FILTER_NAMES
from frontend.params.page_params import SNAPSHOT, PageParams
from frontend.params.restrictions import get_reason, list_restrictions
from frontend.params.url_parameter import Pair
from frontend.text.display_names import NOT_SET, label_name, metric_name
from frontend.text.units import format_value
from profiles.query import DEFAULT_METRICS, FilterOption, Metric

_ALWAYS = frozenset({ZONE.name, VERSION.name, FILTER.name, SNAPSHOT.name})
# Parameters for which a page has fields, menus or chips of its own.
_CONTROLS: Mapping[str, frozenset[str]] = {
    "flame": _ALWAYS | {WEIGHT.name, WEIGHTS.name, PROFILE.name, METRIC.name, FOCUS.name},
    "compare": _ALWAYS,
    "history": _ALWAYS,
    "breakdown": _ALWAYS | {METRIC.name},
    "profiles": _ALWAYS | {WEIGHTS.name},
}
_LONGEST_ID = 12  # characters of the id of a profile or a snapshot
_LONGEST = 200  # characters of another value

_NAMES: dict[str, Promise] = {
    ZONE.name: _("Zone"),
    VERSION.name: _("Version"),
    WEIGHT.name: _("Profile total"),
    WEIGHTS.name: _("Profile total"),
    PROFILE.name: _("Profile"),
    METRIC.name: _("Metric"),
    FOCUS.name: _("Focus"),
    SNAPSHOT.name: _("Snapshot"),
}


@dataclass(frozen=True, slots=True)
class RestrictionChip:
    parameter: str
    name: str
    value: str
    others: list[str]  # values of the parameter without this one
    reason: str = ""  # why the page does not apply it; "" if it does


def restriction_chips(params: PageParams, page: str) -> list[RestrictionChip]:
    """Return a chip for each restriction without a control on the page, those left out last."""
    pairs = list_restrictions(params)
    left_out = frozenset(params.left_out)
    own = _CONTROLS[page]
    applied = [pair for pair in pairs if pair not in left_out and pair[0] not in own]
    reason_page = SNAPSHOT.name if params.snapshot else page
    return [
        *(_chip(params, pair, pairs) for pair in applied),
        *(_chip(params, pair, pairs, get_reason(pair, reason_page)) for pair in params.left_out),
    ]


def _chip(
    params: PageParams, pair: Pair, pairs: tuple[Pair, ...], reason: str = ""
) -> RestrictionChip:
    parameter, value = pair
    name, text = _texts(params, parameter, value)
    others = [other for name_, other in pairs if name_ == parameter and other != value]
    return RestrictionChip(parameter, name, text[:_LONGEST], others, reason)


def _texts(params: PageParams, parameter: str, value: str) -> tuple[str, str]:
    """Return the name and the value of a restriction as a chip shows them."""
    for family in (LABEL, SAMPLE):
        if parameter.startswith(family.prefix):
            return parameter.removeprefix(family.prefix), value
    if parameter == UNSET.name:
        return label_name(parse_grouping(value)), str(NOT_SET)
    if parameter == FILTER.name:
        option, _colon, pattern = value.partition(":")
        return str(FILTER_NAMES[FilterOption(option)]), pattern
    return str(_NAMES[parameter]), _value(params, parameter, value)


def _value(params: PageParams, parameter: str, value: str) -> str:
    if parameter == WEIGHT.name:
        return str(_("Top %(percent)s%%")) % {"percent": value}
    if parameter == WEIGHTS.name and params.type:
        unit = DEFAULT_METRICS[params.type].unit
        return " – ".join(format_value(int(end), unit) for end in value.split(".."))
    if parameter == METRIC.name:
        return metric_name(Metric(value, ""))
    return value[:_LONGEST_ID] if parameter in (PROFILE.name, SNAPSHOT.name) else value
