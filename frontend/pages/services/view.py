"""`/p/<project>/services`: the services of a project and their status."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.components.selection.range_menu import range_menu
from frontend.http.fragments import wants_fragment
from frontend.page_query import query_context, range_notices
from frontend.pages.services.params import SORTS, read
from frontend.pages.services.service_list import list_services
from frontend.params.page_links import Carried
from frontend.text.time_ranges import span_phrase
from projects.access import project_for


@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def services(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    now = timezone.now()
    query, notices = read(LenientReader.from_query(request.GET), now)
    range = query.range
    context = {
        "project": project,
        "here": "services",
        "query": query,
        "notices": [*notices, *range_notices(project, range, now)],
        "list": list_services(query_context(request, project), project, query, now),
        "range": range_menu(project, range, now),
        "carried": Carried(range),
        "span_words": "" if range.end else span_phrase(range.span),
        "sorts": SORTS,
    }
    if not wants_fragment(request):
        return render(request, "frontend/services/services.html", context)
    response = render(request, "frontend/services/fragment.html", context)
    response.headers["HX-Push-Url"] = request.path + query.address(page=query.page)
    return response
