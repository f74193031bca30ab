"""`…/deployments`: every (service, zone, version) that agents have reported, in pages."""

from functools import partial
from typing import Any

from api.documents import dumps, head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from profiles.params import values
from profiles.query import check
from projects.models import Deployment
from projects.registration import deployments

USUAL, MOST = 100, 1000  # rows of a page


def question(asking: ApiRequest) -> ApiQuery:
    asking.form(JSON)
    read = asking.parameters.read
    service = read("service", values.short, "")
    after = read("page", partial(values.count, most=2**63 - 1), 0)
    size = read("size", partial(values.count, most=MOST), USUAL)

    def answer(deadline: float) -> bytes:
        found = deployments.list_page(asking.project, service, size + 1, after)
        check(deadline)
        shown = found[:size]
        more = shown[-1].pk if len(found) > size else None
        rows = [_row(row) for row in shown]
        return dumps(
            {**head(asking), "rows": rows, "next_page": None if more is None else str(more)}
        )

    return ApiQuery(answer, asking.now)


def _row(row: Deployment) -> dict[str, Any]:
    return {
        "service": row.service,
        "zone": row.zone,
        "version": row.version,
        "language": row.language,
        "types": row.profiled,
        "first_seen": row.first_seen,
        "last_seen": row.last_seen,
    }
