"""Selections of profiles for a label selector, a profile type and a time range."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.pyroscope.profile_types import CONTENTION_LABEL, TypeId, ids_of
from api.pyroscope.selectors import Matcher, Selector, allows
from endpoints.params.values import LONGEST_SPAN, MAX_TEXT, YEARS
from profiles.query import (
    InvalidQuery,
    OptionsResult,
    QueryContext,
    Selection,
    View,
    deployments_of,
    run_options,
    run_stored_metrics,
)
from projects.profile_types import ProfileType

SERVICE_NAME, PROFILE_TYPE = "service_name", "__profile_type__"
ZONE, VERSION = "zone", "version"
# Labels about the profile type, which Pyroscope has with every profile.
_OF_TYPE = (PROFILE_TYPE, "__name__", "__type__", "__unit__", "__period_type__", "__period_unit__")
_OF_DEPLOYMENT = (SERVICE_NAME, ZONE, VERSION)
MAX_SELECTIONS = 50  # services and types that one request reads profiles of
RECENTLY = timedelta(days=1)  # range of requests that state none
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
        return MatchedRange(now - RECENTLY, now)
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


def stored_series(context: QueryContext, selector: Selector, of: MatchedRange) -> list[SeriesKey]:
    """Return the services and types that a selector's conditions on these two match."""
    by_service = selector.of(SERVICE_NAME)
    stored = run_stored_metrics(context, of.start, of.end)
    return [
        SeriesKey(service, type_id)
        for (service, type_), metrics in stored.items()
        if allows(by_service, service)
        for metric in metrics
        for type_id in ids_of(type_, metric)
        if matches_type(selector, type_id)
    ]


def matches_type(selector: Selector, of: TypeId) -> bool:
    values = (of.id, of.name, of.sample_type, of.sample_unit, of.period_type, of.period_unit)
    value_of = dict(zip(_OF_TYPE, values, strict=True))
    return all(each.matches(value_of[each.name]) for each in selector.of(*_OF_TYPE))


def series_selections(
    context: QueryContext, selector: Selector, of: MatchedRange
) -> list[tuple[Selection, OptionsResult]]:
    """Return a selection for each matching service and type, with the labels of its profiles."""
    found: dict[tuple[str, ProfileType], TypeId] = {}
    for key in stored_series(context, selector, of):
        if key.type.type is not None:
            found.setdefault((key.service, key.type.type), key.type)
    _require_few(len(found))
    selected = []
    for service, type_ in found:
        options = run_options(context, service, type_, of.start, of.end)
        selection = _narrowed(context, selector, (), service, type_, of, options)
        if selection is not None:
            selected.append((selection, options))
    return selected


def selections(
    context: QueryContext, selector: Selector, type_id: TypeId, of: MatchedRange
) -> list[Selection]:
    """Return one selection for each service with profiles that the selector may match.

    Raise InvalidQuery above MAX_SELECTIONS services.
    """
    if type_id.type is None or not matches_type(selector, type_id):
        return []
    type_ = type_id.type
    by_service = selector.of(SERVICE_NAME)
    services = sorted({each.service for each in deployments_of(context)})
    services = [service for service in services if allows(by_service, service)]
    if len(services) > 1:
        stored = run_stored_metrics(context, of.start, of.end)
        services = [service for service in services if (service, type_) in stored]
    _require_few(len(services))
    needs_labels = type_id.contention or any(_free_labels(selector))
    found = []
    for service in services:
        options = run_options(context, service, type_, of.start, of.end) if needs_labels else None
        selection = _narrowed(context, selector, type_id.contention, service, type_, of, options)
        if selection is not None:
            found.append(selection)
    return found


def view_of(type_id: TypeId) -> View:
    return View(metric=type_id.metric)


def shown_name(label: str) -> str:
    """Return the name of a label in selectors, which have letters, digits and `_` only."""
    return _INVALID_IN_NAME.sub("_", label)


def stored_name(shown: str, options: OptionsResult) -> str:
    """Return the label whose name is shown as this one."""
    if shown in options.labels:
        return shown
    return next((name for name in options.labels if shown_name(name) == shown), shown)


def _require_few(count: int) -> None:
    if count > MAX_SELECTIONS:
        raise InvalidQuery(
            f"The selector matches {count} services or types; the limit of one request is "
            f'{MAX_SELECTIONS}. Add a condition such as {{{SERVICE_NAME}="…"}}.'
        )


def _free_labels(selector: Selector) -> Iterator[Matcher]:
    fixed = {*_OF_TYPE, *_OF_DEPLOYMENT}
    return (each for each in selector.matchers if each.name not in fixed)


def _narrowed(
    context: QueryContext,
    selector: Selector,
    contention: tuple[str, ...],
    service: str,
    type_: ProfileType,
    of: MatchedRange,
    options: OptionsResult | None,
) -> Selection | None:
    """Return the selection of a service and type; None if no profile can match."""
    deployments = [each for each in deployments_of(context) if each.service == service]
    zones = _allowed(selector.of(ZONE), {each.zone for each in deployments})
    versions = _allowed(selector.of(VERSION), {each.version for each in deployments})
    if zones is None or versions is None:
        return None
    allowed: dict[str, tuple[str, ...]] = {}
    if options is not None:
        for name, matchers in _by_name(selector, options).items():
            values = _label_values(matchers, [each.value for each in options.labels.get(name, ())])
            if not values:
                return None
            allowed[name] = values
    if contention:
        selected = allowed.get(CONTENTION_LABEL, contention)
        allowed[CONTENTION_LABEL] = tuple(value for value in selected if value in contention)
        if not allowed[CONTENTION_LABEL]:
            return None
    return Selection(
        project=context.project,
        service=service,
        type=type_,
        start=of.start,
        end=of.end,
        zones=zones,
        versions=versions,
        labels=tuple(sorted(allowed.items())),
    )


def _by_name(selector: Selector, options: OptionsResult) -> Mapping[str, list[Matcher]]:
    found: dict[str, list[Matcher]] = {}
    for each in _free_labels(selector):
        found.setdefault(stored_name(each.name, options), []).append(each)
    return found


def _allowed(matchers: Sequence[Matcher], values: set[str]) -> tuple[str, ...] | None:
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
