"""`…/top`: self and total cost of each function."""

from collections.abc import Callable, Sequence
from functools import partial

from api.documents import metric_json, selection_fields
from api.formats import CSV, JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.lists import FUNCTION_SORT
from endpoints.params.parameter import Parameter
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from profiles.query import (
    ExportFile,
    ExportFormat,
    FunctionRow,
    QueryContext,
    TopResult,
    dumps,
    run_export,
    run_top,
)

MOST_ROWS = 1_000_000
SIZE = Parameter("size", "Number of rows", partial(values.count, most=MOST_ROWS), MOST_ROWS)
_KEYS: dict[str, Callable[[FunctionRow], int | str]] = {
    "self": lambda row: -row.self,
    "total": lambda row: -row.total,
    "count": lambda row: -row.count,
    "name": lambda row: row.name,
}


def sort_functions(rows: Sequence[FunctionRow], sort: str) -> list[FunctionRow]:
    """Sort rows by the value of FUNCTION_SORT.

    Numbers are sorted in descending order, names in ascending order; a leading `-` reverses that.
    """
    key = _KEYS[sort.removeprefix("-")]
    return sorted(rows, key=key, reverse=sort.startswith("-"))


def query(request: ApiRequest) -> ApiQuery:
    parameters = request.parameters
    form = request.form(JSON, CSV)
    selection = read_selection(parameters, request.project, request.now)
    view = read_view(parameters)
    sort, size = parameters.read(FUNCTION_SORT), parameters.read(SIZE)

    def run(context: QueryContext) -> bytes | ExportFile:
        if form is CSV:
            return run_export(context, selection, view, ExportFormat.CSV)
        result = run_top(context, selection, view)
        return _json(request, result, sort_functions(result.rows, sort)[:size])

    return ApiQuery(run, selection.end, selection.service, form)


def _json(request: ApiRequest, result: TopResult, shown: Sequence[FunctionRow]) -> bytes:
    return dumps(
        {
            **selection_fields(request, result.selection, result.coverage),
            "metric": metric_json(result.metric),
            "metrics": [metric_json(metric) for metric in result.metrics],
            "all": len(result.rows),
            "functions": {
                name: [getattr(row, name) for row in shown]
                for name in ("name", "file", "self", "total", "count")
            },
        }
    )
