"""`…/deployments`: every (service, zone, version) that agents have reported, in pages."""

from functools import partial
from typing import Any

from api.documents import dumps, head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.parameter import Parameter
from endpoints.params.selection import SERVICE
from profiles.query import QueryContext
from projects.models import Deployment
from projects.registration import deployments

AFTER = Parameter("page", "Token of a page", partial(values.count, most=2**63 - 1), 0)
SIZE = Parameter("size", "Rows of a page", partial(values.count, most=1000), 100)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    read = request.parameters.read
    service, after, size = read(SERVICE), read(AFTER), read(SIZE)

    def run(context: QueryContext) -> bytes:
        rows = deployments.list_page(request.project, service, size + 1, after)
        context.check()
        page = rows[:size]
        documents = [_row(row) for row in page]
        next_page = str(page[-1].pk) if len(rows) > size else None
        return dumps({**head(request), "rows": documents, "next_page": next_page})

    return ApiQuery(run, request.now)


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
