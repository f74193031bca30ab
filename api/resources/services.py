"""`…/services`: services of the project, with their profiles in a time range."""

from dataclasses import asdict

from api.documents import dumps, head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from profiles.params.selection import read_range
from profiles.query import run_services


def question(asking: ApiRequest) -> ApiQuery:
    asking.form(JSON)
    within = read_range(asking.parameters, asking.now)

    def answer(deadline: float) -> bytes:
        found = run_services(asking.project, within.start, within.end, deadline)
        rows = [asdict(row) for row in found.rows]
        return dumps({**head(asking), "start": within.start, "end": within.end, "services": rows})

    return ApiQuery(answer, within.end)
