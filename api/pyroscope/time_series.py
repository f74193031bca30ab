"""Methods about values over time: series by label, and heat maps."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from api.pyroscope.matching import (
    PROFILE_TYPE,
    SERVICE_NAME,
    VERSION,
    ZONE,
    MatchedRange,
    build_view,
    find_stored_name,
    selections,
    time_range,
)
from api.pyroscope.profile_types import TypeId, parse_id
from api.pyroscope.proto import querier_pb2 as pb
from api.pyroscope.selectors import parse_selector
from profiles.query import (
    InvalidQuery,
    MetricNotFound,
    ProfileSelection,
    QueryContext,
    run_options,
    run_profile_values,
)

MAX_STEPS = 11_000  # of a series, as in Prometheus
MAX_SERIES = 500  # of a response: the greatest
MAX_GROUP_BY = 10  # labels
MAX_PROFILES = 5_000_000  # of a request, each 24 bytes
HEAT_BINS = 20
_FIXED = (SERVICE_NAME, PROFILE_TYPE, ZONE, VERSION)

Labels = tuple[tuple[str, str], ...]


class _Steps(NamedTuple):
    """Steps of a range: step i has the profiles in (start + (i - 1) step, start + i step]."""

    start: int  # ms since 1970
    length: int  # ms

    def number_steps(self, time: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the step of each time, given in µs since 1970."""
        offset = time - self.start * 1000
        found: NDArray[np.int64] = -(-offset // (self.length * 1000))
        return found

    def end(self, step: int) -> int:
        return self.start + step * self.length


class _Group(NamedTuple):
    """Profiles of one series; arrays are int64 [P]."""

    labels: Labels
    time: NDArray[np.int64]  # µs since 1970
    value: NDArray[np.int64]


def select_series(
    context: QueryContext, request: pb.SelectSeriesRequest, now: datetime
) -> pb.SelectSeriesResponse:
    """Sum the values of the profiles that match, or average them, by step and label."""
    if request.stack_trace_selector.call_site:
        raise InvalidQuery("Series of a call site are not supported.")
    period = time_range(request.start, request.end, now)
    steps = _build_steps(period, request.step)
    groups = _groups(
        context, request.profile_typeID, request.label_selector, period, steps, request.group_by
    )
    found = _greatest(groups, request.limit)
    is_mean = request.aggregation == pb.TIME_SERIES_AGGREGATION_TYPE_AVERAGE
    series = [
        pb.Series(labels=_pairs(group.labels), points=_points(steps, group, is_mean))
        for group in found
    ]
    return pb.SelectSeriesResponse(series=series)


def select_heat_map(
    context: QueryContext, request: pb.SelectHeatmapRequest, now: datetime
) -> pb.SelectHeatmapResponse:
    """Count the profiles that match by step and value; profiles of spans are not recorded."""
    period = time_range(request.start, request.end, now)
    steps = _build_steps(period, request.step)
    if request.query_type == pb.HEATMAP_QUERY_TYPE_SPAN:
        return pb.SelectHeatmapResponse()
    groups = _groups(
        context, request.profile_typeID, request.label_selector, period, steps, request.group_by
    )
    found = _greatest(groups, request.limit)
    edges = _edges(found)
    series = [
        pb.HeatmapSeries(labels=_pairs(group.labels), slots=_slots(steps, group, edges))
        for group in found
    ]
    return pb.SelectHeatmapResponse(series=series)


def _build_steps(period: MatchedRange, seconds: float) -> _Steps:
    if not isfinite(seconds) or seconds < 0.001:
        raise InvalidQuery("step has to be a number of seconds, at least 0.001.")
    start = round(period.start.timestamp() * 1000)
    length = int(min(seconds, 400 * 86_400) * 1000)
    span = round(period.end.timestamp() * 1000) - start
    if span // length > MAX_STEPS:
        raise InvalidQuery(
            f"The range has {span // length:,} steps; the limit is {MAX_STEPS:,}. Choose a longer "
            "step or a shorter range."
        )
    return _Steps(start, length)


def _groups(
    context: QueryContext,
    id: str,
    label_selector: str,
    period: MatchedRange,
    steps: _Steps,
    group_by: Iterable[str],
) -> list[_Group]:
    """Return the profiles that match, by the values of the labels; absent labels are left out.

    The first step ends at the start of the range, so it begins before.
    """
    names = tuple(dict.fromkeys(group_by))
    if len(names) > MAX_GROUP_BY:
        raise InvalidQuery(f"group_by may have {MAX_GROUP_BY} labels.")
    type_id, selector = parse_id(id), parse_selector(label_selector)
    earlier = replace(period, start=period.start - timedelta(milliseconds=steps.length))
    found: dict[Labels, list[_Group]] = {}
    profiles = 0
    with context.snapshot:
        for selection in selections(context, selector, type_id, earlier):
            for group in _read_groups(context, selection, type_id, names):
                found.setdefault(group.labels, []).append(group)
                profiles += len(group.time)
            if profiles > MAX_PROFILES:
                raise InvalidQuery(
                    f"The selector matches more than {MAX_PROFILES:,} profiles, the limit of one "
                    "request. Choose a shorter range, or add a condition."
                )
    return [
        _Group(
            labels,
            np.concatenate([part.time for part in parts]),
            np.concatenate([part.value for part in parts]),
        )
        for labels, parts in found.items()
    ]


def _read_groups(
    context: QueryContext, selection: ProfileSelection, type_id: TypeId, names: Sequence[str]
) -> Iterator[_Group]:
    stored = {name: name for name in names}
    if {*names} - {*_FIXED}:
        options = run_options(
            context, selection.service, selection.type, selection.start, selection.end
        )
        stored = {name: find_stored_name(name, options.labels) for name in names}
    fixed = {SERVICE_NAME: selection.service, PROFILE_TYPE: type_id.id}
    group_by = [name for name in names if name not in fixed]
    try:
        result = run_profile_values(
            context, selection, build_view(type_id), [stored[name] for name in group_by]
        )
    except MetricNotFound:
        return
    order = np.argsort(result.group, kind="stable")
    ends = np.cumsum(np.bincount(result.group, minlength=len(result.groups)))
    for values, rows in zip(result.groups, np.split(order, ends[:-1]), strict=False):
        own = fixed | dict(zip(group_by, values, strict=True))
        labels = tuple((name, own[name]) for name in names if own[name])
        yield _Group(labels, result.time[rows], result.value[rows])
    context.check()


def _greatest(groups: list[_Group], limit: int) -> list[_Group]:
    """Return the groups with the greatest sums, MAX_SERIES at most, sorted by their labels."""
    most = min(limit, MAX_SERIES) if limit > 0 else MAX_SERIES
    sums = {group.labels: float(group.value.sum(dtype=np.float64)) for group in groups}
    found = sorted(groups, key=lambda group: (-sums[group.labels], group.labels))
    return sorted(found[:most], key=lambda group: group.labels)


def _points(steps: _Steps, group: _Group, is_mean: bool) -> list[pb.Point]:
    """Return the points of the steps that have profiles."""
    numbers, inverse, counts = np.unique(
        steps.number_steps(group.time), return_inverse=True, return_counts=True
    )
    sums = np.bincount(inverse.reshape(-1), group.value.astype(np.float64))
    values = sums / counts if is_mean else sums
    return [
        pb.Point(value=value, timestamp=steps.end(number))
        for number, value in zip(numbers.tolist(), values.tolist(), strict=True)
    ]


def _edges(groups: Sequence[_Group]) -> NDArray[np.float64]:
    """Return the least values of the bins, the same for all groups."""
    if not groups:
        return np.zeros(0)
    low = min(float(group.value.min()) for group in groups)
    high = max(float(group.value.max()) for group in groups)
    return np.linspace(low, max(high, low + HEAT_BINS), HEAT_BINS + 1)[:-1]


def _slots(steps: _Steps, group: _Group, edges: NDArray[np.float64]) -> Iterator[pb.HeatmapSlot]:
    row = np.searchsorted(edges, group.value, side="right") - 1
    numbers, inverse = np.unique(steps.number_steps(group.time), return_inverse=True)
    counts = np.zeros((len(numbers), len(edges)), np.int64)
    np.add.at(counts, (inverse.reshape(-1), row), 1)
    for number, own in zip(numbers.tolist(), counts.tolist(), strict=True):
        yield pb.HeatmapSlot(timestamp=steps.end(number), y_min=edges.tolist(), counts=own)


def _pairs(labels: Labels) -> list[pb.LabelPair]:
    return [pb.LabelPair(name=name, value=value) for name, value in labels]
