"""`…/top`: self and total cost of each function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Rows:
    """Sort order and maximum number of rows."""

    sort: str
    size: int

    def sort_and_limit(self, rows: Sequence[FunctionRow]) -> list[FunctionRow]:
        """Sort the rows and return the first `size`.

        Numbers are sorted in descending order, names in ascending order; a leading `-` reverses
        that.
        """
        key = _KEYS[self.sort.removeprefix("-")]
        return sorted(rows, key=key, reverse=self.sort.startswith("-"))[: self.size]


def query(request: ApiRequest) -> ApiQuery:
    parameters = request.parameters
    form = request.form(JSON, CSV)
    selection = read_selection(parameters, request.project, request.now)
    view = read_view(parameters)
    rows = _Rows(parameters.read(FUNCTION_SORT), parameters.read(SIZE))

    def run(context: QueryContext) -> bytes | ExportFile:
        if form is CSV:
            return run_export(context, selection, view, ExportFormat.CSV)
        return _json(request, run_top(context, selection, view), rows)

    return ApiQuery(run, selection.end, selection.service, form)


def _json(request: ApiRequest, result: TopResult, rows: _Rows) -> bytes:
    shown = rows.sort_and_limit(result.rows)
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
