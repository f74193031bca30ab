"""`…/tree`: the merged call tree, one function with its callers and callees, or an export."""

from dataclasses import replace

from api.formats import FOLDED, JSON, PPROF, SPEEDSCOPE
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_selection
from endpoints.params.view import SPLIT, read_order, read_view
from profiles.query import (
    ExportFile,
    ExportFormat,
    ProfileSelection,
    QueryContext,
    View,
    focus_json,
    run_export,
    run_focus,
    run_tree,
    tree_json,
)


def query(request: ApiRequest) -> ApiQuery:
    parameters = request.parameters
    form = request.form(JSON, PPROF, FOLDED, SPEEDSCOPE)
    selection = read_selection(parameters, request.project, request.now)
    order, split = read_order(parameters), parameters.read(SPLIT)
    view = replace(read_view(parameters), order=order, split=split)

    def run(context: QueryContext) -> bytes | ExportFile:
        if form is JSON:
            return _json(context, selection, view)
        return run_export(context, selection, view, ExportFormat(form.name))

    return ApiQuery(run, selection.end, selection.service, form)


def _json(context: QueryContext, selection: ProfileSelection, view: View) -> bytes:
    if view.focus is not None:
        return focus_json(context, run_focus(context, selection, view))
    return tree_json(context, run_tree(context, selection, view))
