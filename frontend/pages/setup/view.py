"""`/p/<project>/setup`: install commands, and a status that polls for the first profile."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from frontend.http.fragments import wants_fragment
from frontend.page_query import query_context
from frontend.pages.agent_files.files import agent_files
from frontend.pages.setup.install_commands import KEY_PLACEHOLDER, install_commands
from frontend.pages.setup.other_clients import other_clients
from frontend.pages.setup.progress import Progress, progress
from frontend.params.page_links import flame_url
from frontend.params.page_params import PageParams
from projects.access import may_import, may_manage_keys, membership, project_for
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import keys
from projects.models import Member, Project

STATE = parameter.text("state", "State that the page shows")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the install commands; POST creates a key and shows them with its secret, once."""
    member = membership(request.user, project_id)
    key, errors = "", list[str]()
    if request.method == "POST":
        try:
            key = _make_key(request, member)
        except LimitReached as reached:
            errors.append(str(reached))
    page = "connect.html" if wants_fragment(request) else "setup.html"
    return render(
        request, f"frontend/setup/{page}", _context(request, member, key) | {"errors": errors}
    )


@require_safe
@never_cache
def status(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the status fragment, which polls every two seconds until the first profile arrives.

    Return 204 while nothing changed: the page stays as it is, and screen readers stay quiet.
    """
    project = project_for(request.user, project_id)
    now = progress(query_context(request, project), project)
    if LenientReader.from_query(request.GET).read(STATE) == now.state:
        return HttpResponse(status=204)
    context = {
        "project": project,
        "progress": now,
        "imported_url": _import_url(project, now),
        "is_update": True,
    }
    return render(request, "frontend/setup/waiting.html", context)


def _make_key(request: HttpRequest, member: Member) -> str:
    name = _("set-up, %(day)s") % {"day": f"{timezone.now():%Y-%m-%d}"}
    _row, text = keys.create(
        member.project, name, actor=member.user, origin=Origin.from_request(request)
    )
    return text


def _context(request: HttpRequest, member: Member, key: str) -> dict[str, object]:
    project, files = member.project, agent_files()
    now = progress(query_context(request, project), project)
    return {
        "project": project,
        "here": "setup",
        "key": key,
        "files": files,
        "clients": other_clients(
            settings.FLAMEWATCH_URL, key or KEY_PLACEHOLDER, project.project_id
        ),
        "lines": install_commands(settings.FLAMEWATCH_URL, key or KEY_PLACEHOLDER, files),
        "may_change": may_manage_keys(member),
        "may_import": may_import(member),
        "progress": now,
        "imported_url": _import_url(project, now),
    }


def _import_url(project: Project, now: Progress) -> str:
    """Return the flame page of the hour until the latest imported profile; "" if there is none."""
    if now.agent is None or now.imported is None:
        return ""
    # The end of a range is exclusive, and URLs have whole seconds.
    end = now.imported + timedelta(minutes=1)
    return flame_url(
        project, PageParams(service=now.agent.deployment.service, type=now.opens, end=end)
    )
