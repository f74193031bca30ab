"""`/p/<project>/settings/audit/export/<csv|json>`: the filtered entries as a file."""

import json
from collections.abc import Iterable, Iterator
from typing import cast

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.http.thread_response import PulledResponse
from frontend.pages.audit.params import read
from profiles.query import encode_csv_rows
from projects import audit
from projects.access import project_for
from projects.audit_log import EntryDocument, entry_document, read_all
from projects.models import AuditEntry, User

_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@require_safe
@never_cache
def export(request: HttpRequest, project_id: str, form: str) -> HttpResponseBase:
    """Send all entries that match the page's filters, the newest first; record the export."""
    project = project_for(request.user, project_id)
    if form not in _TYPES:
        raise Http404
    query, _notices = read(LenientReader.from_query(request.GET))
    headers = {"Content-Disposition": f'attachment; filename="audit-{project_id}.{form}"'}
    if request.method == "HEAD":
        return HttpResponse(content_type=_TYPES[form], headers=headers)
    criteria = query.build_filter(project.pk, timezone.now())
    audit.record(
        project,
        "audit.export",
        actor=cast("User", request.user),
        origin=audit.Origin.from_request(request),
        target=form.upper(),
        filters=query.address()[1:],
    )
    make = _csv_parts if form == "csv" else _json_parts
    parts = (part.encode() for part in make(read_all(criteria)))
    return PulledResponse(parts, content_type=_TYPES[form], headers=headers)


def _csv_parts(pages: Iterable[list[AuditEntry]]) -> Iterator[str]:
    yield encode_csv_rows([[*EntryDocument.__annotations__]])
    for entries in pages:
        yield encode_csv_rows([list(_csv_fields(entry).values()) for entry in entries])


def _csv_fields(entry: AuditEntry) -> EntryDocument:
    details = json.dumps(entry.detail, ensure_ascii=False) if entry.detail else ""
    return {**entry_document(entry), "details": details}


def _json_parts(pages: Iterable[list[AuditEntry]]) -> Iterator[str]:
    """Yield an array with an entry on each line."""
    separator = "[\n"
    for entries in pages:
        lines = (json.dumps(entry_document(entry), ensure_ascii=False) for entry in entries)
        yield separator + ",\n".join(lines)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
