"""`/p/<project>/calendar`: hours with profiles, for the calendar of the range menu."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE, TYPE, read_range
from frontend.page_query import query_context
from profiles.query import InvalidQuery, run_calendar
from projects.access import project_for


@require_safe
def calendar(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return {"hours": [start in s since 1970, …]} of the range; errors are {"error": sentence}."""
    if not request.user.is_authenticated:
        sentence = _("Sign in to see this project.")
        return JsonResponse({"error": sentence}, status=HTTPStatus.UNAUTHORIZED)
    project = project_for(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    start, end = read_range(reader, now := timezone.now()).bounds(now)
    context = query_context(request, project)
    try:
        hours = run_calendar(context, reader.read(SERVICE), reader.read(TYPE), start, end)
    except InvalidQuery as error:
        return JsonResponse({"error": str(error)}, status=HTTPStatus.BAD_REQUEST)
    response = JsonResponse({"hours": [round(hour.timestamp()) for hour in hours]})
    response["Cache-Control"] = "private, no-store"
    return response
