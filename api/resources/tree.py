"""`…/tree`: the merged call tree, one function with its callers and callees, or an export."""

from dataclasses import replace

from api.formats import FOLDED, JSON, PPROF, SPEEDSCOPE
from api.requests import ApiQuery, ApiRequest
from profiles.params.selection import read_selection
from profiles.params.view import read_order, read_view
from profiles.query import (
    ExportFile,
    ExportFormat,
    Selection,
    View,
    focus_json,
    run_export,
    run_focus,
    run_tree,
    tree_json,
)


def question(asking: ApiRequest) -> ApiQuery:
    parameters = asking.parameters
    form = asking.form(JSON, PPROF, FOLDED, SPEEDSCOPE)
    selection = read_selection(parameters, asking.project, asking.now)
    view = replace(read_view(parameters), order=read_order(parameters))

    def answer(deadline: float) -> bytes | ExportFile:
        if form is JSON:
            return _json(selection, view, deadline)
        return run_export(selection, view, ExportFormat(form.name), deadline)

    return ApiQuery(answer, selection.end, form)


def _json(selection: Selection, view: View, deadline: float) -> bytes:
    if view.focus is not None:
        return focus_json(run_focus(selection, view, deadline))
    return tree_json(run_tree(selection, view, deadline))
