"""`…/history`: the cost of functions over time, in steps."""

from typing import Any

from api.documents import dumps, metric_json, selected
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.query_string import Parameters
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from profiles.query import BadFilterPattern, HistoryResult, QueryContext, matcher, run_history

USUAL, MOST = 5, 50  # functions


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    parameters = request.parameters
    selection = read_selection(parameters, request.project, request.now)
    view = read_view(parameters)
    step = parameters.read("step", values.span, None)
    names = parameters.several("function")
    show, hide = _patterns(parameters, "show"), _patterns(parameters, "hide")
    size = parameters.read("size", lambda text: values.count(text, MOST), USUAL)

    def run(context: QueryContext) -> bytes:
        result = run_history(
            context, selection, view, step=step, names=names, show=show, hide=hide, lines=size
        )
        return dumps(_document(request, result))

    return ApiQuery(run, selection.end)


def _patterns(parameters: Parameters, name: str) -> tuple[str, ...]:
    """Read patterns: substrings of function names, or regular expressions between slashes."""
    texts = parameters.several(name)
    try:
        for text in texts:
            matcher(text)
    except BadFilterPattern as error:
        raise parameters.bad(name, str(error)) from error
    return texts


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
