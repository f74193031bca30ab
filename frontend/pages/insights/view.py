"""`/p/<project>/insights`: rules that match the profiles of the services, with their cost."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE, read_range
from frontend.components.selection.range_menu import range_menu
from frontend.page_query import query_context, range_notices
from frontend.pages.insights.view_model import DEFAULT_RANGE, build_page
from frontend.params.notices import list_replacement_notices
from frontend.params.page_links import Carried
from projects.access import project_for


@require_safe
def insights(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    range, service = read_range(reader, now, DEFAULT_RANGE), reader.read(SERVICE)
    notices = [*list_replacement_notices(reader), *range_notices(project, range, now)]
    context = {
        "project": project,
        "here": "insights",
        "notices": notices,
        "page": build_page(query_context(request, project), project, range, service, now),
        "range": range_menu(project, range, now),
        "carried": Carried(range, service),
        "service": service,
    }
    return render(request, "frontend/insights/page.html", context)
