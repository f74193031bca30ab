"""`…/compare`: two selections compared by call tree node and by function.

Differences are selected - baseline: parameters without a prefix choose the selected side, those
with the prefix `b.` the baseline.
"""

from dataclasses import replace
from operator import attrgetter

from api.formats import CSV, JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_other_side, read_selection
from endpoints.params.view import read_order, read_view
from profiles.query import (
    CompareResult,
    FunctionChange,
    QueryContext,
    compare_document,
    dumps,
    encode_csv,
    run_compare,
)

_SIDE = "b."
_COLUMNS = FunctionChange._fields
# Columns of CSV: values of the baseline before those of the selected side, as on the pages.
_CSV_COLUMNS = (
    *("name", "file", "b_self", "b_total", "a_self", "a_total"),
    *("low", "high", "q", "real"),
)


def query(request: ApiRequest) -> ApiQuery:
    parameters = request.parameters
    form = request.form(JSON, CSV)
    selected = read_selection(parameters, request.project, request.now)
    others = parameters.side(_SIDE)
    baseline = read_other_side(others, selected, request.now)
    others.done()
    view = replace(read_view(parameters), order=read_order(parameters))

    def run(context: QueryContext) -> bytes:
        result = run_compare(context, selected, baseline, view)
        return _csv(result) if form is CSV else _json(context, result)

    return ApiQuery(run, max(selected.end, baseline.end), selected.service, form)


def _json(context: QueryContext, result: CompareResult) -> bytes:
    """Return the tree with the sums of both sides, and the functions as columns."""
    columns = zip(*result.functions, strict=True)
    functions = dict.fromkeys(_COLUMNS, ()) | dict(zip(_COLUMNS, columns, strict=False))
    return dumps({**compare_document(context, result), "functions": functions})


def _csv(result: CompareResult) -> bytes:
    selected, baseline = (coverage.profiles for coverage in result.coverages)
    unit = result.metric.unit
    difference = "selected - baseline, total per profile"
    heads = {
        "a_self": f"selected self ({unit}, profiles: {selected})",
        "a_total": f"selected total ({unit}, profiles: {selected})",
        "b_self": f"baseline self ({unit}, profiles: {baseline})",
        "b_total": f"baseline total ({unit}, profiles: {baseline})",
        "low": f"{difference}, 95 % interval from ({unit})",
        "high": f"{difference}, 95 % interval to ({unit})",
        "real": "significant",
    }
    in_order = attrgetter(*_CSV_COLUMNS)
    rows = ([*map(_csv_value, in_order(change))] for change in result.functions)
    return encode_csv([heads.get(name, name) for name in _CSV_COLUMNS], rows).encode()


def _csv_value(value: object) -> object:
    """Format a CSV value: "yes" or "no" for a flag, empty for a value that was not tested."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value
