"""`GET …/annotations`: notes of a project in a range of time."""

from typing import Any

from api.documents import head
from api.formats import JSON
from api.paging import AFTER, SIZE, page_fields
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import SERVICE, read_range
from profiles.query import QueryContext, dumps
from projects import annotations
from projects.models import Annotation


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    read = request.parameters.read
    service, after, size = read(SERVICE), read(AFTER), read(SIZE)
    start, end = read_range(request.parameters, request.now).bounds(request.now)

    def run(context: QueryContext) -> bytes:
        rows = annotations.list_page(
            request.project, service, start, end, size + 1, after, allowed=context.services
        )
        context.check()
        page = page_fields(rows, size, annotation_document)
        return dumps({**head(request), "start": start, "end": end, **page})

    return ApiQuery(run, request.now, service)


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
