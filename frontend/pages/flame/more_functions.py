"""`/p/<project>/flame/functions`: further rows of the function list, for htmx."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.pages.flame.function_pages import functions_page
from frontend.pages.flame.merged_tree import found_or_merged
from frontend.queries.list_params import PAGE
from frontend.queries.page_query import DEADLINE_SECONDS, query_context
from frontend.queries.params import SEEN, page_params
from profiles.query import DeadlinePassed, InvalidQuery
from projects.access import project_for

_MOST_PAGES = 10_000


@login_required
@require_safe
def flame_functions(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render table rows; the last one links to the next page of rows."""
    project = project_for(request.user, project_id)
    now = timezone.now()
    of = LenientReader.of_query(request.GET)
    params = page_params(of, now)
    if not params.service or params.type is None:
        return _error(HTTPStatus.BAD_REQUEST, _("The address must name a service and a type."))
    selection = params.selection(project.pk, params.service, params.type, now)
    seen = of.read(SEEN)
    try:
        top = found_or_merged(query_context(request, project), params, selection, seen).top
    except InvalidQuery as error:
        return _error(HTTPStatus.BAD_REQUEST, str(error))
    except DeadlinePassed:
        sentence = _("Merging these profiles takes more than %(n)d s. Try a shorter time range.")
        return _error(HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"n": DEADLINE_SECONDS})
    page = functions_page(params, top, project, seen, min(of.read(PAGE), _MOST_PAGES))
    context = {"functions": page, "params": params, "project": project}
    response = render(request, "frontend/flame/rows.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


def _error(status: HTTPStatus, sentence: str) -> HttpResponse:
    return HttpResponse(sentence, "text/plain; charset=utf-8", status=status)
