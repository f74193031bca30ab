"""Documents of `/pyroscope/render`, `/pyroscope/render-diff` and `/pyroscope/label-values`."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import orjson

from api.pyroscope.flame_graph import Levels
from api.pyroscope.labels import label_values, profile_types
from api.pyroscope.profile_types import TypeId, parse_id
from api.pyroscope.proto import querier_pb2 as pb
from api.pyroscope.selectors import parse_selector
from api.pyroscope.stack_traces import merge_levels
from api.pyroscope.time_series import select_series
from endpoints.params.reader import BadParameter
from endpoints.params.values import UNITS
from profiles.query import QueryContext, dumps

_TIMELINE_STEPS = 1000
_SHORTEST_STEP = 15  # seconds
_RELATIVE = re.compile(r"now(?:-([0-9]{1,6})([smhdw]))?")
_OBJECTS = frozenset({"inuse_objects", "alloc_objects", "goroutine", "samples"})

Texts = Mapping[str, str]  # parameters of the address
Document = Callable[[QueryContext, Texts, datetime], bytes]


def render(context: QueryContext, texts: Texts, now: datetime) -> bytes:
    """Return a flame graph, with the sums over time."""
    if texts.get("format", "json") not in {"", "json"}:
        raise BadParameter("format", "only json is supported")
    request, type_id = _request(texts, "query", "from", "until", now)
    levels = merge_levels(context, [request], request.max_nodes, now)
    step = max(_SHORTEST_STEP, (request.end - request.start) // (1000 * _TIMELINE_STEPS))
    series = select_series(
        context,
        pb.SelectSeriesRequest(
            profile_typeID=request.profile_typeID,
            label_selector=request.label_selector,
            start=request.start,
            end=request.end,
            step=step,
        ),
        now,
    ).series
    return dumps(
        {
            **_flame_graph(levels, type_id, "single"),
            "timeline": _timeline(request, step, series[0].points if series else ()),
        }
    )


def render_diff(context: QueryContext, texts: Texts, now: datetime) -> bytes:
    """Return the difference of two flame graphs of one profile type."""
    left, type_id = _request(texts, "leftQuery", "leftFrom", "leftUntil", now)
    right, other = _request(texts, "rightQuery", "rightFrom", "rightUntil", now)
    if type_id.id != other.id:
        raise BadParameter("rightQuery", "both sides have to be of one profile type")
    levels = merge_levels(context, [left, right], left.max_nodes, now)
    ticks = dict(zip(("leftTicks", "rightTicks"), levels.totals, strict=True))
    return dumps({**_flame_graph(levels, type_id, "double"), **ticks})


def known_values(context: QueryContext, texts: Texts, now: datetime) -> bytes:
    """Return the values of a label; `__name__` lists the ids of the profile types."""
    label = texts.get("label", "")
    if not label:
        raise BadParameter("label", "is missing")
    if label == "__name__":
        types = profile_types(context, pb.ProfileTypesRequest(), now).profile_types
        return orjson.dumps([each.ID for each in types])
    names = label_values(context, pb.LabelValuesRequest(name=label), now).names
    return orjson.dumps([*names])


def _request(
    texts: Texts, query: str, start: str, end: str, now: datetime
) -> tuple[pb.SelectMergeStacktracesRequest, TypeId]:
    """Read one side; its query is the id of a profile type and a label selector."""
    text = texts.get(query, "")
    if not text:
        raise BadParameter(query, "is missing")
    selector = parse_selector(text)
    _, brace, conditions = text.partition("{")
    named = [each for each in selector.find_matchers("__name__") if each.operator == "="]
    type_id = parse_id(selector.name or (named[0].value if named else ""))
    count = texts.get("max-nodes") or texts.get("maxNodes") or "0"
    if not re.fullmatch(r"[0-9]{1,9}", count):
        raise BadParameter("max-nodes", f"{count[:60]!r} is no number")
    request = pb.SelectMergeStacktracesRequest(
        profile_typeID=type_id.id,
        label_selector=f"{{{conditions}" if brace else "",
        start=_time(texts, start, now, "now-1h"),
        end=_time(texts, end, now, "now"),
        max_nodes=int(count),
    )
    return request, type_id


def _time(texts: Texts, name: str, now: datetime, default: str) -> int:
    """Read a time: Unix time in s or ms, `now`, or `now-1h`; return it in ms."""
    text = texts.get(name, "") or default
    relative = _RELATIVE.fullmatch(text)
    if relative:
        seconds = int(relative[1]) * UNITS[relative[2]] if relative[1] else 0
        return round((now.timestamp() - seconds) * 1000)
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise BadParameter(name, f"{text[:60]!r} is neither a Unix time nor now or now-1h")
    return int(text) * 1000 if len(text) <= 10 else int(text)


def _flame_graph(levels: Levels, type_id: TypeId, form: str) -> dict[str, Any]:
    is_cpu = type_id.sample_type == "cpu"
    units = "objects" if type_id.sample_type in _OBJECTS else type_id.sample_unit
    return {
        "version": 1,
        "flamebearer": {
            "names": levels.names,
            "levels": levels.levels,
            "numTicks": sum(levels.totals),
            "maxSelf": levels.max_self,
        },
        "metadata": {
            "format": form,
            "spyName": "",
            "sampleRate": 1_000_000_000 if is_cpu else 100,
            "units": "samples" if is_cpu else units,
            "name": type_id.sample_type,
        },
    }


def _timeline(request: pb.SelectMergeStacktracesRequest, step: int, points: Any) -> dict[str, Any]:
    """Return the sums of all steps from the start, 0 for those without profiles."""
    by_time = {point.timestamp: round(point.value) for point in points}
    times = range(request.start, request.end + 1, step * 1000)
    return {
        "startTime": request.start // 1000,
        "samples": [by_time.get(time, 0) for time in times],
        "durationDelta": step,
        "watermarks": None,
    }
