"""`GET …/annotations`: notes of a project in a range of time."""

from functools import partial
from typing import Any

from api.documents import dumps, head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.parameter import Parameter
from endpoints.params.selection import SERVICE, read_range
from profiles.query import QueryContext
from projects import annotations
from projects.models import Annotation

AFTER = Parameter("page", "Token of a page", partial(values.count, most=2**63 - 1), 0)
SIZE = Parameter("size", "Rows of a page", partial(values.count, most=1000), 100)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    read = request.parameters.read
    service, after, size = read(SERVICE), read(AFTER), read(SIZE)
    start, end = read_range(request.parameters, request.now).bounds(request.now)

    def run(context: QueryContext) -> bytes:
        rows = annotations.list_page(request.project, service, start, end, size + 1, after)
        context.check()
        page = rows[:size]
        next_page = str(page[-1].pk) if len(rows) > size else None
        documents = [annotation_document(row) for row in page]
        body = {"start": start, "end": end, "rows": documents, "next_page": next_page}
        return dumps({**head(request), **body})

    return ApiQuery(run, request.now)


def annotation_document(row: Annotation) -> dict[str, Any]:
    return {
        "id": row.pk,
        "time": row.at,
        "service": row.service,
        "version": row.version,
        "function": row.function,
        "text": row.text,
        "link": row.link,
        "created": row.created,
        "created_by_key": row.created_key,
    }
