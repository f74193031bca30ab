"""`/p/<project>/settings/audit`: the audit log of a project, for its owners and admins."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.http.fragments import wants_fragment
from frontend.pages.audit.params import KINDS, RANGES, read
from frontend.pages.audit.view_model import build_list, list_people
from projects.access import project_for
from projects.audit_actions import GROUPS


@require_safe
@never_cache
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def audit_log(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    query, notices = read(LenientReader.from_query(request.GET))
    context = {
        "project": project,
        "here": "settings",
        "query": query,
        "notices": notices,
        "list": build_list(project, query, timezone.now()),
    }
    if wants_fragment(request):
        response = render(request, "frontend/audit/list.html", context)
        response.headers["HX-Push-Url"] = request.path + query.address(
            older=query.older, entry=query.entry
        )
        return response
    menus = {
        "people": list_people(project),
        "kinds": KINDS,
        "groups": GROUPS,
        "ranges": RANGES,
        "days": settings.AUDIT_DAYS,
    }
    return render(request, "frontend/audit/page.html", context | menus)
