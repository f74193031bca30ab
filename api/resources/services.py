"""`…/services`: services of the project, with their profiles in a time range."""

from dataclasses import asdict

from api.documents import head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_range
from profiles.query import QueryContext, dumps, run_services


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    start, end = read_range(request.parameters, request.now).bounds(request.now)

    def run(context: QueryContext) -> bytes:
        result = run_services(context, start, end)
        rows = [asdict(row) for row in result.rows if context.services.allows(row.service)]
        return dumps({**head(request), "start": start, "end": end, "services": rows})

    return ApiQuery(run, end, service="")
