"""`…/profiles`: single profiles of a selection, newest or heaviest first, in pages."""

from functools import partial
from typing import Any

from api.documents import dumps, selected
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.selection import read_selection
from profiles.query import ProfileOrder, ProfileRow, QueryContext, run_profiles

USUAL, MOST = 100, 1000  # rows of a page


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    parameters = request.parameters
    selection = read_selection(parameters, request.project, request.now)
    page = parameters.read("page", values.short, "")
    order = ProfileOrder(parameters.read("order", _order, ProfileOrder.NEWEST.value))
    size = parameters.read("size", partial(values.count, most=MOST), USUAL)

    def run(context: QueryContext) -> bytes:
        result = run_profiles(context, selection, page=page, size=size, order=order)
        rows = [_row(request, row) for row in result.rows]
        fields = selected(request, selection, result.coverage)
        return dumps({**fields, "rows": rows, "next_page": result.next_page})

    return ApiQuery(run, selection.end)


def _order(text: str) -> str:
    return values.one_of(text, tuple(each.value for each in ProfileOrder))


def _row(request: ApiRequest, row: ProfileRow) -> dict[str, Any]:
    return {
        "name": f"projects/{request.project_id}/profiles/{row.name_id}",
        "time": row.time,
        "duration_s": row.duration_ns / 1e9,
        "zone": row.zone,
        "version": row.version,
        "weight": row.weight,
        "labels": row.labels,
        "agent": row.agent,
    }
