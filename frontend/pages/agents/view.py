"""`/p/<project>/agents`: the agents, deployments and imports of a project."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.components.capture_progress import CAPTURE, capture_progress
from frontend.http.fragments import wants_fragment
from frontend.page_query import query_context
from frontend.pages.agents.agent_list import AgentList, list_agents
from frontend.pages.agents.deployment_list import DeploymentList, list_deployments
from frontend.pages.agents.import_list import ImportList, list_imports
from frontend.pages.agents.params import FIND_TEXTS, SHOWN, STATES, AgentQuery, read
from profiles.query import QueryContext
from projects.access import may_capture, membership
from projects.models import Project


@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def agents(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    query, notices = read(reader)
    project, now = member.project, timezone.now()
    queries = query_context(request, project)
    context = {
        "project": project,
        "here": "agents",
        "query": query,
        "notices": notices,
        "list": _list(queries, project, query, now),
        "states": STATES,
        "shows": SHOWN,
        "find_text": FIND_TEXTS[query.show],
        "may_capture": may_capture(member),
        "capture": capture_progress(queries, project, reader.read(CAPTURE), now),
    }
    if not wants_fragment(request):
        return render(request, "frontend/agents/page.html", context)
    response = render(request, "frontend/agents/fragment.html", context)
    response.headers["HX-Push-Url"] = request.path + query.address(page=query.page)
    return response


def _list(
    queries: QueryContext, project: Project, query: AgentQuery, now: datetime
) -> AgentList | DeploymentList | ImportList:
    if query.show == "deployments":
        return list_deployments(queries, project, query, now)
    if query.show == "imports":
        return list_imports(project, query, now)
    return list_agents(project, query, now)
