"""`/p/<project>/agents`: the agents and deployments of a project."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.fragments import wants_fragment
from frontend.pages.agents.agent_list import list_agents
from frontend.pages.agents.deployment_list import list_deployments
from frontend.pages.agents.params import SHOWN, STATES, read
from frontend.pages.capture.progress import CAPTURE, capture_progress
from frontend.queries.page_query import query_context
from projects.access import may_capture, membership


@login_required
@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def agents(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    of = LenientReader.of_query(request.GET)
    query, notices = read(of)
    project, now = member.project, timezone.now()
    queries = query_context(request, project)
    context = {
        "project": project,
        "here": "agents",
        "query": query,
        "notices": notices,
        "list": list_deployments(queries, project, query, now)
        if query.show == "deployments"
        else list_agents(project, query, now),
        "states": STATES,
        "shows": SHOWN,
        "may_capture": may_capture(member),
        "capture": capture_progress(queries, project, of.read(CAPTURE), now),
    }
    if not wants_fragment(request):
        return render(request, "frontend/agents/page.html", context)
    response = render(request, "frontend/agents/fragment.html", context)
    response.headers["HX-Push-Url"] = request.path + query.address(page=query.page)
    return response
