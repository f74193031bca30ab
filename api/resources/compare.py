"""`…/compare`: two selections compared by call tree node and by function.

Differences are A - B.
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
    heads = {
        "a_self": f"A self ({unit}, profiles: {first})",
        "a_total": f"A total ({unit}, profiles: {first})",
        "b_self": f"B self ({unit}, profiles: {second})",
        "b_total": f"B total ({unit}, profiles: {second})",
        "low": f"difference of mean totals, 95 % from ({unit})",
        "high": f"to ({unit})",
    }
    rows = ([*map(_csv_value, change)] for change in result.functions)
    return encode_csv([heads.get(name, name) for name in _COLUMNS], rows).encode()


def _csv_value(value: object) -> object:
    """Format a CSV value: empty for untested changes, "real" for significant ones."""
    if isinstance(value, bool):
        return "real" if value else ""
    return "" if value is None else value
