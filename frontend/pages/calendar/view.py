"""`/p/<project>/calendar`: hours with profiles, for the calendar of the range menu."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE, TYPE, read_range
from frontend.components.results.query_errors import json_errors
from frontend.page_query import query_context
from profiles.query import run_calendar
from projects.access import project_for


@require_safe
@json_errors(_("Days with profiles could not be loaded."))
def calendar(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return {"hours": [start in s since 1970, …]} of the range; errors are {"error": sentence}."""
    project = project_for(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    start, end = read_range(reader, now := timezone.now()).bounds(now)
    context = query_context(request, project)
    hours = run_calendar(context, reader.read(SERVICE), reader.read(TYPE), start, end)
    response = JsonResponse({"hours": [round(hour.timestamp()) for hour in hours]})
    response["Cache-Control"] = "private, no-store"
    return response
