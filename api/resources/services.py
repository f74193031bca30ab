"""`…/services`: services of the project, with their profiles in a time range."""

from dataclasses import asdict

from api.documents import dumps, head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_range
from profiles.query import QueryContext, run_services


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    within = read_range(request.parameters, request.now)

    def run(context: QueryContext) -> bytes:
        result = run_services(context, within.start, within.end)
        rows = [asdict(row) for row in result.rows]
        return dumps({**head(request), "start": within.start, "end": within.end, "services": rows})

    return ApiQuery(run, within.end)
