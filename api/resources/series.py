"""`…/series`: a metric over time, by the values of a label."""

from functools import partial
from typing import Any

from api.documents import dumps, metric_json, selected
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.lists import GROUP_BY, STEP
from endpoints.params.parameter import Parameter
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from profiles.query import GroupSeries, QueryContext, SeriesResult, run_series

SIZE = Parameter("size", "Number of values", partial(values.count, most=100), 10)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    parameters = request.parameters
    selection = read_selection(parameters, request.project, request.now)
    view = read_view(parameters)
    group_by, step = parameters.read(GROUP_BY), parameters.read(STEP)
    size = parameters.read(SIZE)

    def run(context: QueryContext) -> bytes:
        result = run_series(context, selection, view, group_by, step=step, size=size)
        return dumps(_document(request, result))

    return ApiQuery(run, selection.end)


def _document(request: ApiRequest, result: SeriesResult) -> dict[str, Any]:
    steps = result.steps
    return {
        **selected(request, result.selection, result.coverage),
        "metric": metric_json(result.metric),
        "group_by": result.group_by.parameter if result.group_by else None,
        "step_s": result.step_seconds,
        "steps": {
            "start": [step.start for step in steps],
            "profiles": [step.profiles for step in steps],
            "total": [step.total for step in steps],
            "duration_s": [step.duration_ns / max(step.profiles, 1) / 1e9 for step in steps],
        },
        "values": [{"value": each.value, **_sums(each)} for each in result.values],
        "other": {"values": result.other_values, **_sums(result.other)} if result.other else None,
    }


def _sums(of: GroupSeries) -> dict[str, Any]:
    duration = None
    if of.duration_ns is not None and of.profiles is not None:
        duration = of.duration_ns / max(of.profiles, 1) / 1e9
    return {
        "total": of.total,
        "profiles": of.profiles,
        "duration_s": duration,
        "totals": of.totals,
    }
