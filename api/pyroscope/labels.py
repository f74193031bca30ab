"""Methods about profile types, labels and series: which values the profiles of a range have."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from api.pyroscope.matching import (
    MAX_LABELLED,
    OF_TYPE,
    PROFILE_TYPE,
    SERVICE_NAME,
    VERSION,
    ZONE,
    MatchedRange,
    SeriesKey,
    find_deployments,
    find_series_selections,
    find_stored_name,
    list_series,
    list_series_types,
    selector_name,
    time_range,
)
from api.pyroscope.proto import querier_pb2 as pb
from api.pyroscope.selectors import Selector, join_selectors
from profiles.query import (
    InvalidQuery,
    QueryContext,
    View,
    run_label_names,
    run_label_values,
    run_profile_values,
    run_stored_times,
)
from projects.profile_types import ProfileType

_OF_EVERY_PROFILE = (SERVICE_NAME, ZONE, VERSION, PROFILE_TYPE)
_OF_DEPLOYMENTS = (SERVICE_NAME, ZONE, VERSION, *OF_TYPE)
_BY_SERIES = (SERVICE_NAME, PROFILE_TYPE)
MAX_VALUES = 5000  # of a label
MAX_SERIES = 5000  # label sets of a response
MAX_LABEL_NAMES = 20  # of a request
_NO_CONDITION = Selector("", ())


def profile_types(
    context: QueryContext, request: pb.ProfileTypesRequest, now: datetime
) -> pb.ProfileTypesResponse:
    """List the profile types of all services, sorted by id."""
    period = time_range(request.start, request.end, now)
    types = {key.type.id: key.type for key in list_series(context, _NO_CONDITION, period)}
    return pb.ProfileTypesResponse(
        profile_types=[
            pb.ProfileType(
                ID=each.id,
                name=each.name,
                sample_type=each.sample_type,
                sample_unit=each.sample_unit,
                period_type=each.period_type,
                period_unit=each.period_unit,
            )
            for _, each in sorted(types.items())
        ]
    )


def label_names(
    context: QueryContext, request: pb.LabelNamesRequest, now: datetime
) -> pb.LabelNamesResponse:
    """List the names of the labels of the profiles that match.

    With more than MAX_LABELLED services and types, conditions on profile labels are ignored.
    """
    period, selector = time_range(request.start, request.end, now), join_selectors(request.matchers)
    with context.snapshot:
        if len(list_series_types(context, selector, period)) <= MAX_LABELLED:
            found = [{*labels} for _, labels in find_series_selections(context, selector, period)]
        else:
            index = run_label_names(context, period.start, period.end)
            found = [
                {*index.get(key, ())} for key in _list_indexed_series(context, selector, period)
            ]
    names = {selector_name(name) for own in found for name in own}
    if found:
        names |= {*_OF_EVERY_PROFILE}
    return pb.LabelNamesResponse(names=sorted(names))


def label_values(
    context: QueryContext, request: pb.LabelValuesRequest, now: datetime
) -> pb.LabelValuesResponse:
    """List the values of one label of the profiles that match.

    With more than MAX_LABELLED services and types, conditions on profile labels are ignored, and
    values that are rare within a block may be missing.
    """
    period, selector = time_range(request.start, request.end, now), join_selectors(request.matchers)
    with context.snapshot:
        if request.name in _BY_SERIES and _is_by_series(selector):
            keys = list_series(context, selector, period)
            values = {_get_series_label(key, request.name) for key in keys}
        elif len(list_series_types(context, selector, period)) <= MAX_LABELLED:
            sets = _list_label_sets(context, selector, period, (request.name,))
            values = {value for each in sets for value in each}
        elif request.name in _OF_EVERY_PROFILE:
            values = {
                value
                for (value,) in _list_deployment_sets(context, selector, period, [request.name])
            }
        else:
            values = _list_indexed_values(context, selector, period, request.name)
    return pb.LabelValuesResponse(names=sorted(values - {""})[:MAX_VALUES])


def series(context: QueryContext, request: pb.SeriesRequest, now: datetime) -> pb.SeriesResponse:
    """List the distinct label sets, of the requested labels, of the profiles that match."""
    period, selector = time_range(request.start, request.end, now), join_selectors(request.matchers)
    names = tuple(dict.fromkeys(request.label_names)) or _OF_EVERY_PROFILE
    if len(names) > MAX_LABEL_NAMES:
        raise InvalidQuery(f"A request may name {MAX_LABEL_NAMES} labels.")
    with context.snapshot:
        if {*names} <= {*_BY_SERIES} and _is_by_series(selector):
            keys = list_series(context, selector, period)
            sets = {tuple(_get_series_label(key, name) for name in names) for key in keys}
        elif (
            {*names} <= {*_OF_EVERY_PROFILE}
            and all(each.name in _OF_DEPLOYMENTS for each in selector.matchers)
            and len(list_series_types(context, selector, period)) > MAX_LABELLED
        ):
            sets = _list_deployment_sets(context, selector, period, names)
        else:
            sets = _list_label_sets(context, selector, period, names)
    if len(sets) > MAX_SERIES:
        raise InvalidQuery(
            f"The profiles have {len(sets):,} different label sets; the limit is {MAX_SERIES:,}. "
            "Name fewer labels, or add a condition."
        )
    return pb.SeriesResponse(
        labels_set=[
            pb.Labels(
                labels=[
                    pb.LabelPair(name=name, value=value)
                    for name, value in zip(names, values, strict=True)
                    if value
                ]
            )
            for values in sorted(sets)
        ]
    )


def profile_stats(
    context: QueryContext, request: pb.GetProfileStatsRequest, now: datetime
) -> pb.GetProfileStatsResponse:
    """Return the times of the first and last profile."""
    stored = run_stored_times(context)
    if stored.first is None or stored.last is None:
        return pb.GetProfileStatsResponse(data_ingested=False)
    return pb.GetProfileStatsResponse(
        data_ingested=True,
        oldest_profile_time=round(stored.first.timestamp() * 1000),
        newest_profile_time=round(stored.last.timestamp() * 1000),
    )


def _is_by_series(selector: Selector) -> bool:
    """Return True if all conditions are on the service or the profile type."""
    return all(each.name == SERVICE_NAME or each.name[:2] == "__" for each in selector.matchers)


def _get_series_label(key: SeriesKey, name: str) -> str:
    return key.service if name == SERVICE_NAME else key.type.id


def _list_deployment_sets(
    context: QueryContext, selector: Selector, period: MatchedRange, names: Sequence[str]
) -> set[tuple[str, ...]]:
    """Return the distinct values of some of _OF_EVERY_PROFILE, without reading blocks."""
    sets = set()
    for deployment, type_id in find_deployments(context, selector, period):
        values = {
            SERVICE_NAME: deployment.service,
            ZONE: deployment.zone,
            VERSION: deployment.version,
            PROFILE_TYPE: type_id.id,
        }
        sets.add(tuple(values[name] for name in names))
    return sets


def _list_indexed_series(
    context: QueryContext, selector: Selector, period: MatchedRange
) -> set[tuple[str, ProfileType]]:
    """Return the services and types with a matching deployment."""
    return {
        (deployment.service, type_id.type)
        for deployment, type_id in find_deployments(context, selector, period)
        if type_id.type is not None
    }


def _list_indexed_values(
    context: QueryContext, selector: Selector, period: MatchedRange, shown: str
) -> set[str]:
    """Return the values of the profile labels with this shown name, without reading blocks."""
    keys = _list_indexed_series(context, selector, period)
    names = run_label_names(context, period.start, period.end)
    stored = {name for key in keys for name in names.get(key, ()) if selector_name(name) == shown}
    return {
        value
        for name in sorted(stored)[:MAX_LABEL_NAMES]
        for key, values in run_label_values(context, name, period.start, period.end).items()
        if key in keys
        for value in values
    }


def _list_label_sets(
    context: QueryContext, selector: Selector, period: MatchedRange, names: Iterable[str]
) -> set[tuple[str, ...]]:
    """Return the distinct values of the labels, in their order; "" where one is absent."""
    names = [*names]
    types: dict[tuple[str, object], set[str]] = {}
    for key in list_series(context, selector, period):
        types.setdefault((key.service, key.type.type), set()).add(key.type.id)
    sets: set[tuple[str, ...]] = set()
    for selection, labels in find_series_selections(context, selector, period):
        group_by = [find_stored_name(name, labels) for name in names if name not in _BY_SERIES]
        found = run_profile_values(context, selection, View(), group_by).groups
        for type_id in types[selection.service, selection.type] if PROFILE_TYPE in names else [""]:
            fixed = {SERVICE_NAME: selection.service, PROFILE_TYPE: type_id}
            for group in found:
                own = iter(group)
                sets.add(tuple(fixed[name] if name in fixed else next(own) for name in names))
    return sets
