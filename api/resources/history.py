"""`…/history`: the cost of functions over time, in steps."""

from functools import partial
from typing import Any

from api.documents import dumps, metric_json, selected
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.lists import FUNCTION, STEP
from endpoints.params.parameter import Parameter, Repeated
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from profiles.query import HistoryResult, QueryContext, matcher, run_history

SIZE = Parameter("size", "Number of functions", partial(values.count, most=50), 5)


def _pattern(text: str) -> str:
    """Return a substring of function names, or a regular expression between slashes."""
    matcher(text)
    return text


SHOW = Repeated("show", "Only functions that match one of these patterns", _pattern)
HIDE = Repeated("hide", "Only functions that match none of these patterns", _pattern)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    parameters = request.parameters
    selection = read_selection(parameters, request.project, request.now)
    view = read_view(parameters)
    step, names = parameters.read(STEP), parameters.several(FUNCTION)
    show, hide = parameters.several(SHOW), parameters.several(HIDE)
    size = parameters.read(SIZE)

    def run(context: QueryContext) -> bytes:
        result = run_history(
            context, selection, view, step=step, names=names, show=show, hide=hide, lines=size
        )
        return dumps(_document(request, result))

    return ApiQuery(run, selection.end)


def _document(request: ApiRequest, result: HistoryResult) -> dict[str, Any]:
    steps = result.steps
    return {
        **selected(request, result.selection, result.coverage),
        "metric": metric_json(result.metric),
        "step_s": result.step_seconds,
        "steps": {
            "start": [step.start for step in steps],
            "profiles": [step.profiles for step in steps],
            "total": [step.total for step in steps],
            "duration_s": [step.duration_ns / max(step.profiles, 1) / 1e9 for step in steps],
        },
        "functions": [
            {"name": line.name, "file": line.file, "self": line.self, "total": line.total}
            for line in result.lines
        ],
        "versions": [
            {
                "version": span.version,
                "first": span.first,
                "last": span.last,
                "profiles": span.profiles,
            }
            for span in result.versions
        ],
    }
