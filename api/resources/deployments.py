"""`…/deployments`: every (service, zone, version) that agents have reported, in pages."""

from typing import Any

from api.documents import head
from api.formats import JSON
from api.paging import AFTER, SIZE, page_fields
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import SERVICE
from profiles.query import QueryContext, dumps
from projects.models import Deployment
from projects.registration import deployments


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    read = request.parameters.read
    service, after, size = read(SERVICE), read(AFTER), read(SIZE)

    def run(context: QueryContext) -> bytes:
        rows = deployments.list_page(
            request.project, service, size + 1, after, allowed=context.services
        )
        context.check()
        return dumps({**head(request), **page_fields(rows, size, _row)})

    return ApiQuery(run, request.now, service)


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
