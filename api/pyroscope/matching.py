"""Selections of profiles for a label selector, a profile type and a time range."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.pyroscope.profile_types import CONTENTION_LABEL, TypeId, build_type_ids
from api.pyroscope.selectors import Matcher, Selector, allows
from endpoints.params.values import LONGEST_SPAN, MAX_TEXT, YEARS
from profiles.query import (
    MOST_LABELS,
    InvalidQuery,
    ProfileSelection,
    QueryContext,
    View,
    get_deployments,
    run_label_names,
    run_options,
    run_stored_amounts,
    run_stored_deployments,
    run_stored_metrics,
)
from projects.models import Deployment
from projects.profile_types import ProfileType

SERVICE_NAME, PROFILE_TYPE = "service_name", "__profile_type__"
ZONE, VERSION = "zone", "version"
# Labels about the profile type, which Pyroscope has with every profile.
OF_TYPE = (PROFILE_TYPE, "__name__", "__type__", "__unit__", "__period_type__", "__period_unit__")
_OF_DEPLOYMENT = (SERVICE_NAME, ZONE, VERSION)
MAX_LABELLED = 50  # services and types whose labels one request reads from their profiles
# Head rows and blocks of all services that one request reads: see docs/reference/pyroscope.md.
MAX_INPUTS = 50_000
DEFAULT_SPAN = timedelta(days=1)  # range of requests that state none
Labels = Mapping[str, Sequence[str]]  # values by the name of a label
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INVALID_IN_NAME = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class MatchedRange:
    start: datetime
    end: datetime


def time_range(start_ms: int, end_ms: int, now: datetime) -> MatchedRange:
    """Return the range of a request: the last day if it states none.

    Raise InvalidQuery if it is empty, longer than LONGEST_SPAN or outside of YEARS.
    """
    if not start_ms and not end_ms:
        return MatchedRange(now - DEFAULT_SPAN, now)
    try:
        start, end = (_EPOCH + timedelta(milliseconds=ms) for ms in (start_ms, end_ms))
    except OverflowError:
        raise InvalidQuery("start and end have to be Unix times in milliseconds.") from None
    if start >= end or start.year not in YEARS or end.year not in YEARS:
        raise InvalidQuery("start has to be before end, both Unix times in milliseconds.")
    if end - start > LONGEST_SPAN:
        raise InvalidQuery(f"The time range may have {LONGEST_SPAN.days} days.")
    return MatchedRange(start, end)


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """Service and profile type with profiles in the range."""

    service: str
    type: TypeId


def list_series(context: QueryContext, selector: Selector, period: MatchedRange) -> list[SeriesKey]:
    """Return the services and types that a selector's conditions on these two match.

    Only services that the client may read. Raise ServiceNotAllowed if the selector names another.
    """
    by_service = selector.find_matchers(SERVICE_NAME)
    _require_services(context, by_service)
    stored = context.snapshot.once(
        ("stored metrics", period), lambda: run_stored_metrics(context, period.start, period.end)
    )
    return [
        SeriesKey(service, type_id)
        for (service, type_), metrics in stored.items()
        if allows(by_service, service) and context.services.allows(service)
        for metric in metrics
        for type_id in build_type_ids(type_, metric)
        if matches_type(selector, type_id)
    ]


def matches_type(selector: Selector, type_id: TypeId) -> bool:
    values = (
        type_id.id,
        type_id.name,
        type_id.sample_type,
        type_id.sample_unit,
        type_id.period_type,
        type_id.period_unit,
    )
    value_of = dict(zip(OF_TYPE, values, strict=True))
    return all(each.matches(value_of[each.name]) for each in selector.find_matchers(*OF_TYPE))


def find_deployments(
    context: QueryContext, selector: Selector, period: MatchedRange
) -> list[tuple[Deployment, TypeId]]:
    """Return the deployments with profiles in the range, and their types, without reading blocks.

    Conditions on the service, the type, the zone and the version apply; others are ignored.
    """
    by_pk = {each.pk: each for each in get_deployments(context)}
    stored = run_stored_deployments(context, period.start, period.end)
    return [
        (deployment, key.type)
        for key in list_series(context, selector, period)
        if key.type.type is not None
        for pk in sorted(stored.get((key.service, key.type.type), ()))
        if (deployment := by_pk.get(pk)) is not None
        and allows(selector.find_matchers(ZONE), deployment.zone)
        and allows(selector.find_matchers(VERSION), deployment.version)
    ]


def find_series_selections(
    context: QueryContext, selector: Selector, period: MatchedRange
) -> list[tuple[ProfileSelection, Labels]]:
    """Return a selection for each matching service and type, with the labels of its profiles.

    Raise InvalidQuery above MAX_LABELLED services and types.
    """
    found = list_series_types(context, selector, period)
    _require_few_labelled(len(found))
    selected = []
    for service, type_ in found:
        labels = _read_labels(context, service, type_, period)
        selection = _narrow_selection(context, selector, (), service, type_, period, labels)
        if selection is not None:
            selected.append((selection, labels))
    return selected


def list_series_types(
    context: QueryContext, selector: Selector, period: MatchedRange
) -> list[tuple[str, ProfileType]]:
    """Return the services and types that a selector's conditions on these two match, once each."""
    keys = list_series(context, selector, period)
    return [*dict.fromkeys((key.service, key.type.type) for key in keys if key.type.type)]


def selections(
    context: QueryContext, selector: Selector, type_id: TypeId, period: MatchedRange
) -> list[ProfileSelection]:
    """Return one selection for each service with profiles that the selector may match.

    Only services that the client may read. Raise ServiceNotAllowed if the selector names another,
    and InvalidQuery for several services with more than MAX_INPUTS head rows and blocks, and for
    more than MAX_LABELLED services if their labels have to be read.
    """
    if type_id.type is None or not matches_type(selector, type_id):
        return []
    type_ = type_id.type
    by_service, free = selector.find_matchers(SERVICE_NAME), (*_free_labels(selector),)
    _require_services(context, by_service)
    services = [
        service
        for service in sorted({each.service for each in get_deployments(context)})
        if allows(by_service, service) and context.services.allows(service)
    ]
    names: Mapping[tuple[str, ProfileType], frozenset[str]] = {}
    if len(services) > 1:
        amounts = run_stored_amounts(context, period.start, period.end)
        services = [service for service in services if (service, type_) in amounts]
        if free:
            names = run_label_names(context, period.start, period.end)
            services = [each for each in services if _may_match(free, names.get((each, type_), ()))]
        if len(services) > 1:
            inputs = sum(amounts[service, type_].inputs for service in services)
            _require_few_inputs(len(services), inputs)
    reads_values = bool(free) and (len(services) == 1 or any(each.operator != "=" for each in free))
    if reads_values:
        _require_few_labelled(len(services))
    found = []
    for service in services:
        labels: Labels = dict.fromkeys(names.get((service, type_), ()), ())
        if reads_values:
            labels = _read_labels(context, service, type_, period)
        selection = _narrow_selection(
            context, selector, type_id.contention, service, type_, period, labels
        )
        if selection is not None:
            found.append(selection)
    return found


def _require_services(context: QueryContext, by_service: Iterable[Matcher]) -> None:
    for each in by_service:
        if each.operator == "=":
            context.services.require(each.value)


def build_view(type_id: TypeId) -> View:
    return View(metric=type_id.metric)


def selector_name(label: str) -> str:
    """Return the name of a label in selectors, which have letters, digits and `_` only."""
    return _INVALID_IN_NAME.sub("_", label)


def find_stored_name(shown: str, labels: Iterable[str]) -> str:
    """Return the one of these labels whose name is shown as this one."""
    if shown in labels:
        return shown
    return next((name for name in labels if selector_name(name) == shown), shown)


def _require_few_labelled(count: int) -> None:
    if count > MAX_LABELLED:
        raise InvalidQuery(
            f"The selector matches {count:,} services or types; a request that compares the values "
            f"of their labels may match {MAX_LABELLED}. Add a condition such as "
            f'{{{SERVICE_NAME}="…"}}, or use = on labels.'
        )


def _require_few_inputs(services: int, inputs: int) -> None:
    if inputs > MAX_INPUTS:
        raise InvalidQuery(
            f"The selector matches {services:,} services with {inputs:,} profiles and blocks to "
            f"read; the limit of one request is {MAX_INPUTS:,}. Choose a shorter range, or add a "
            f'condition such as {{{SERVICE_NAME}="…"}}.'
        )


def _read_labels(
    context: QueryContext, service: str, type_: ProfileType, period: MatchedRange
) -> Labels:
    """Read the labels of a service's profiles, with their most frequent values."""
    options = run_options(context, service, type_, period.start, period.end)
    return {name: [each.value for each in values] for name, values in options.labels.items()}


def _may_match(matchers: Iterable[Matcher], names: Collection[str]) -> bool:
    """Return False if a condition needs a label that is not among these names of an index."""
    if len(names) >= MOST_LABELS:
        return True  # there may be more
    shown = {selector_name(name) for name in names} | {*names}
    return all(each.name in shown or each.matches("") for each in matchers)


def _free_labels(selector: Selector) -> Iterator[Matcher]:
    fixed = {*OF_TYPE, *_OF_DEPLOYMENT}
    return (each for each in selector.matchers if each.name not in fixed)


def _narrow_selection(
    context: QueryContext,
    selector: Selector,
    contention: tuple[str, ...],
    service: str,
    type_: ProfileType,
    period: MatchedRange,
    labels: Labels,
) -> ProfileSelection | None:
    """Return the selection of a service and type; None if no profile can match."""
    deployments = [each for each in get_deployments(context) if each.service == service]
    zones = _list_allowed(selector.find_matchers(ZONE), {each.zone for each in deployments})
    versions = _list_allowed(
        selector.find_matchers(VERSION), {each.version for each in deployments}
    )
    if zones is None or versions is None:
        return None
    allowed: dict[str, tuple[str, ...]] = {}
    for name, matchers in _group_by_name(selector, labels).items():
        values = _label_values(matchers, labels.get(name, ()))
        if not values:
            return None
        allowed[name] = values
    if contention:
        selected = allowed.get(CONTENTION_LABEL, contention)
        allowed[CONTENTION_LABEL] = tuple(value for value in selected if value in contention)
        if not allowed[CONTENTION_LABEL]:
            return None
    return ProfileSelection(
        project=context.project,
        service=service,
        type=type_,
        start=period.start,
        end=period.end,
        zones=zones,
        versions=versions,
        labels=tuple(sorted(allowed.items())),
    )


def _group_by_name(selector: Selector, labels: Labels) -> Mapping[str, list[Matcher]]:
    found: dict[str, list[Matcher]] = {}
    for each in _free_labels(selector):
        found.setdefault(find_stored_name(each.name, labels), []).append(each)
    return found


def _list_allowed(matchers: Sequence[Matcher], values: set[str]) -> tuple[str, ...] | None:
    """Return the values that match; empty if there is no condition, None if none matches."""
    if not matchers:
        return ()
    return tuple(sorted(value for value in values if allows(matchers, value))) or None


def _label_values(matchers: Sequence[Matcher], existing: Sequence[str]) -> tuple[str, ...]:
    """Return the matching values of a label, with "" if profiles without it match.

    A value that a matcher states is tried even if it is not among the most frequent ones.
    """
    stated = [each.value for each in matchers if each.operator == "="]
    values = dict.fromkeys(["", *existing, *(value for value in stated if len(value) <= MAX_TEXT)])
    return tuple(value for value in values if allows(matchers, value))
