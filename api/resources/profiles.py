"""`…/profiles`: single profiles of a selection, newest or heaviest first, in pages."""

from functools import partial
from typing import Any

from api.documents import dumps, selected
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from profiles.params import values
from profiles.params.selection import read_selection
from profiles.query import ProfileOrder, ProfileRow, run_profiles

USUAL, MOST = 100, 1000  # rows of a page


def question(asking: ApiRequest) -> ApiQuery:
    asking.form(JSON)
    parameters = asking.parameters
    selection = read_selection(parameters, asking.project, asking.now)
    page = parameters.read("page", values.short, "")
    order = ProfileOrder(parameters.read("order", _order, ProfileOrder.NEWEST.value))
    size = parameters.read("size", partial(values.count, most=MOST), USUAL)

    def answer(deadline: float) -> bytes:
        found = run_profiles(selection, deadline=deadline, page=page, size=size, order=order)
        rows = [_row(asking, row) for row in found.rows]
        above = selected(asking, selection, found.coverage)
        return dumps({**above, "rows": rows, "next_page": found.next_page})

    return ApiQuery(answer, selection.end)


def _order(text: str) -> str:
    return values.one_of(text, tuple(each.value for each in ProfileOrder))


def _row(asking: ApiRequest, row: ProfileRow) -> dict[str, Any]:
    return {
        "name": f"projects/{asking.project_id}/profiles/{row.name_id}",
        "time": row.time,
        "duration_s": row.duration_ns / 1e9,
        "zone": row.zone,
        "version": row.version,
        "weight": row.weight,
        "labels": row.labels,
        "agent": row.agent,
    }
