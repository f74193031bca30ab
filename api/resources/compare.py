"""`…/compare`: two selections compared by call tree node and by function.

Differences are selected - baseline: parameters without a prefix select the one side, those with the
prefix `b.` the other.
"""

from dataclasses import replace

from api.documents import dumps
from api.formats import CSV, JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_other_side, read_selection
from endpoints.params.view import read_order, read_view
from profiles.query import (
    CompareResult,
    FunctionChange,
    QueryContext,
    compare_document,
    encode_csv,
    run_compare,
)

_SIDE = "b."
_COLUMNS = FunctionChange._fields


def query(request: ApiRequest) -> ApiQuery:
    parameters = request.parameters
    form = request.form(JSON, CSV)
    first = read_selection(parameters, request.project, request.now)
    others = parameters.side(_SIDE)
    second = read_other_side(others, first, request.now)
    others.done()
    view = replace(read_view(parameters), order=read_order(parameters))

    def run(context: QueryContext) -> bytes:
        result = run_compare(context, first, second, view)
        return _csv(result) if form is CSV else _json(context, result)

    return ApiQuery(run, max(first.end, second.end), form)


def _json(context: QueryContext, result: CompareResult) -> bytes:
    """Return the tree with the sums of both sides, and the functions as columns."""
    columns = zip(*result.functions, strict=True)
    functions = dict.fromkeys(_COLUMNS, ()) | dict(zip(_COLUMNS, columns, strict=False))
    return dumps({**compare_document(context, result), "functions": functions})


def _csv(result: CompareResult) -> bytes:
    first, second = (coverage.profiles for coverage in result.coverages)
    unit = result.metric.unit
    difference = "selected - baseline, total per profile"
    heads = {
        "a_self": f"selected self ({unit}, profiles: {first})",
        "a_total": f"selected total ({unit}, profiles: {first})",
        "b_self": f"baseline self ({unit}, profiles: {second})",
        "b_total": f"baseline total ({unit}, profiles: {second})",
        "low": f"{difference}, 95 % interval from ({unit})",
        "high": f"{difference}, 95 % interval to ({unit})",
        "real": "significant",
    }
    rows = ([*map(_csv_value, change)] for change in result.functions)
    return encode_csv([heads.get(name, name) for name in _COLUMNS], rows).encode()


def _csv_value(value: object) -> object:
    """Format a CSV value: "yes" or "no" for a flag, empty for a value that was not tested."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value
