"""`…/profiles`: single profiles of a selection, newest or heaviest first, in pages."""

from typing import Any

from api.documents import selection_fields
from api.formats import JSON
from api.paging import SIZE
from api.requests import ApiQuery, ApiRequest
from endpoints.params.lists import CURSOR, PROFILE_ORDER
from endpoints.params.selection import read_selection
from profiles.query import ProfileRow, QueryContext, dumps, run_profiles


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    parameters = request.parameters
    selection = read_selection(parameters, request.project, request.now)
    page, order = parameters.read(CURSOR), parameters.read(PROFILE_ORDER)
    size = parameters.read(SIZE)

    def run(context: QueryContext) -> bytes:
        result = run_profiles(context, selection, page=page, size=size, order=order)
        rows = [_row(request, row) for row in result.rows]
        fields = selection_fields(request, selection, result.coverage)
        return dumps({**fields, "rows": rows, "next_page": result.next_page})

    return ApiQuery(run, selection.end, selection.service)


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
