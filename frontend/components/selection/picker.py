"""View model of the picker: the values offered in its menus and the chosen ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.time_text import time_text
from endpoints.params.parameter import Family
from endpoints.params.selection import LABEL, SAMPLE
from frontend.page_query import sort_by_last_seen
from frontend.params.form_address import TOGETHER
from frontend.params.formats import span_text
from frontend.params.page_params import PageParams
from frontend.text.display_names import type_name
from frontend.text.time_ranges import OFFERED, span_name
from frontend.text.units import format_count, format_value
from profiles.query import DEFAULT_METRICS, Metric, OptionsResult, ServiceName
from projects.profile_types import ProfileType

SampleLabelValues = Mapping[str, Sequence[str]]  # values by name
_MOST_SERVICES = 100
_MOST_LABELS, _MOST_VALUES = 8, 10  # offered in the menu; other values can be typed


@dataclass(frozen=True, slots=True)
class Item:
    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class LabelField:
    """A label of profiles or samples: URL parameter, chosen and offered values.

    The last of the chosen values is empty.
    """

    parameter: str
    name: str
    chosen: list[str]
    offered: list[str]


@dataclass(frozen=True, slots=True)
class Picker:
    services: list[Item]
    service_search: Item | None  # opens a search of all services; None if the menu has all of them
    types: list[Item]
    spans: list[Item]
    zones: list[Item]
    versions: list[Item]
    weights: list[Item]
    labels: list[LabelField]
    narrowed: bool  # a filter other than service, type and time range is set
    end: str  # RFC 3339 time of a fixed end; "" while the range ends now
    now: str  # initial value of the field for a fixed end


def picker(
    params: PageParams,
    services: Sequence[ServiceName],
    options: OptionsResult,
    now: datetime,
    samples: SampleLabelValues | None = None,
) -> Picker:
    """Build the picker's menus.

    `params` names the service and the type that are shown; `samples` are offered as labels, too.
    """
    service, type_ = params.service, params.type
    own = next((row for row in services if row.service == service), None)
    types = [*own.types] if own else []
    metric = DEFAULT_METRICS[type_] if type_ else None
    return Picker(
        services=_services(services, service),
        service_search=_service_search(services, service),
        types=[Item(t, type_name(t), t == type_) for t in ProfileType if t in types or t == type_],
        spans=_spans(params.span),
        zones=_several([choice.value for choice in options.zones], params.zones),
        versions=_several([choice.value for choice in options.versions], params.versions),
        weights=_weights(params, options, metric),
        labels=_labels(params, options, samples or {}),
        narrowed=bool(
            params.zones
            or params.versions
            or params.labels
            or params.samples
            or params.unset
            or params.weight
        ),
        end=time_text(params.end) if params.end else "",
        now=time_text(now.replace(second=0)),
    )


def _services(services: Sequence[ServiceName], chosen: str) -> list[Item]:
    """Return menu items by name: the chosen service and the most recently active ones."""
    most = sort_by_last_seen(services)[:_MOST_SERVICES]
    names = sorted({chosen, *(row.service for row in most)}, key=str.lower)
    return [Item(name, name, name == chosen) for name in names]


def _service_search(services: Sequence[ServiceName], chosen: str) -> Item | None:
    """Return the menu's last item; without scripts it selects the service that is selected."""
    if len(services) <= _MOST_SERVICES:
        return None
    text = _("Search all %(n)s services…") % {"n": format_count(len(services))}
    return Item(chosen, text, False)


def _weights(params: PageParams, options: OptionsResult, metric: Metric | None) -> list[Item]:
    """Return items such as `Top 5% (10.05 s - 10.08 s), 6 profiles`.

    A weight from the URL that is not among them gets an item of its own.
    """
    unit = metric.unit if metric else ""
    items = [Item("", _("All"), params.weight is None)]
    for choice in options.weights:
        range_ = f"{format_value(choice.lowest, unit)} - {format_value(choice.highest, unit)}"
        text = ngettext(
            "Top %(percent)s%% (%(range)s), %(n)s profile",
            "Top %(percent)s%% (%(range)s), %(n)s profiles",
            choice.profiles,
        )
        percent = f"{choice.percent:g}"
        values = {"percent": percent, "range": range_, "n": format_count(choice.profiles)}
        items.append(Item(percent, text % values, params.weight == choice.percent))
    if not any(item.chosen for item in items):
        percent = f"{params.weight:g}"
        items.append(Item(percent, _("Top %(percent)s%%") % {"percent": percent}, True))
    return items


def _labels(
    params: PageParams, options: OptionsResult, samples: SampleLabelValues
) -> list[LabelField]:
    """Return fields for the labels that profiles and samples have, and those in the URL."""
    labels = {
        name: [choice.value for choice in choices] for name, choices in options.labels.items()
    }
    return [
        *_fields(LABEL, dict(params.labels), labels),
        *_fields(SAMPLE, dict(params.samples), samples),
    ]


def _fields(
    family: Family,
    chosen: Mapping[str, Sequence[str]],
    offered: Mapping[str, Sequence[str]],
) -> list[LabelField]:
    names = dict.fromkeys([*chosen, *list(offered)[:_MOST_LABELS]])
    return [
        LabelField(
            family.prefix + name,
            name,
            [*chosen.get(name, ()), ""],
            [*offered.get(name, ())][:_MOST_VALUES],
        )
        for name in names
    ]


def _spans(chosen: timedelta) -> list[Item]:
    spans = sorted({*OFFERED, chosen})
    return [Item(span_text(span), span_name(span), span == chosen) for span in spans]


def _several(offered: Iterable[str], chosen: tuple[str, ...]) -> list[Item]:
    """Return `all (3)`, one item per value, and values from the URL that are not offered."""
    values = list(dict.fromkeys([*(value for value in offered if value), *chosen]))
    every = Item("", _("all (%(n)d)") % {"n": len(values)} if values else _("all"), not chosen)
    if len(chosen) > 1:
        return [every, *_together(chosen), *(Item(value, value, False) for value in values)]
    return [every, *(Item(value, value, value in chosen) for value in values)]


def _together(chosen: tuple[str, ...]) -> list[Item]:
    """Return one item for a combination of values, which only a URL can select.

    The item preserves the combination until the user chooses another one.
    """
    return [Item(TOGETHER.join(chosen), ", ".join(chosen), True)]
