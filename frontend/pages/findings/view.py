"""`/p/<project>/findings`: changes that the server found, and one of them with its evidence."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from findings import listing, states
from findings.costs import load_costs
from findings.models import MAX_NOTE, Finding
from findings.states import FindingChanged
from frontend.http.fragments import wants_fragment
from frontend.pages.findings.check_texts import list_check_texts
from frontend.pages.findings.finding_texts import FindingTexts, build_evidence_links
from frontend.pages.findings.params import ORDERS, STATES, read_findings_query
from frontend.pages.findings.view_model import build_list
from projects.access import membership, project_for
from projects.audit import Origin
from projects.models import Member, User
from projects.permissions import Permission, has_permission


@require_safe
@never_cache
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def list_findings(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    query, notices = read_findings_query(LenientReader.from_query(request.GET))
    context = {
        "project": project,
        "here": "findings",
        "query": query,
        "notices": notices,
        "list": build_list(project, query),
    }
    if wants_fragment(request):
        response = render(request, "frontend/findings/list.html", context)
        response.headers["HX-Push-Url"] = request.path + query.address(page=query.page)
        return response
    menus = {"states": STATES, "orders": ORDERS}
    return render(request, "frontend/findings/page.html", context | menus)


@require_safe
@never_cache
def show_finding(request: HttpRequest, project_id: str, finding_id: str) -> HttpResponse:
    member, row = _find(request, project_id, finding_id)
    texts = FindingTexts(member.project, row, load_costs(member.project.pk, timezone.now()))
    real, unreal = listing.count_votes(row)
    own = row.votes.filter(user=member.user_id).first()
    context = {
        "project": member.project,
        "here": "findings",
        "finding": texts,
        "links": build_evidence_links(texts),
        "checks": list_check_texts(row.checks),
        "events": row.events.select_related("actor").order_by("-time", "-pk"),
        "real": real,
        "unreal": unreal,
        "own_vote": None if own is None else own.is_true,
        "may_manage": has_permission(member.role, Permission.MANAGE_FINDINGS),
        "max_note": MAX_NOTE,
    }
    return render(request, "frontend/findings/finding.html", context)


@require_POST
def change_finding(
    request: HttpRequest, project_id: str, finding_id: str, action: str
) -> HttpResponse:
    """Change the state of a finding, and return to its page."""
    member, row = _find(request, project_id, finding_id)
    change = _ACTIONS.get(action)
    if change is None:
        raise Http404
    try:
        done = change(request, member, row)
    except FindingChanged as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, done)
    return redirect("finding", project_id, finding_id)


def _find(request: HttpRequest, project_id: str, finding_id: str) -> tuple[Member, Finding]:
    member = membership(request.user, project_id)
    row = listing.find_finding(member.project.pk, finding_id)
    if row is None:
        raise Http404
    return member, row


def _change_state(
    change: Callable[..., None],
    sentence: Callable[[], str],
    request: HttpRequest,
    member: Member,
    row: Finding,
) -> str:
    change(
        row,
        actor=member.user,
        origin=Origin.from_request(request),
        note=request.POST.get("note", ""),
    )
    return sentence()


def _mute(request: HttpRequest, member: Member, row: Finding) -> str:
    scope = request.POST.get("scope", "")
    states.mute(
        row,
        actor=member.user,
        origin=Origin.from_request(request),
        is_service=scope == "service",
        is_version=scope == "version",
    )
    if scope == "service":
        return _("Changes of %(service)s are not reported any more") % {"service": row.service}
    return _("Finding muted")


def _assign(request: HttpRequest, member: Member, row: Finding) -> str:
    person: User | None = member.user if request.POST.get("person") == "me" else None
    states.assign(row, person, actor=member.user, origin=Origin.from_request(request))
    return _("The finding is yours") if person else _("The finding is nobody's")


def _vote(request: HttpRequest, member: Member, row: Finding) -> str:
    states.vote(row, actor=member.user, is_true=request.POST.get("real") == "1")
    return _("Your answer is counted")


_Change = Callable[[HttpRequest, Member, Finding], str]
_ACTIONS: dict[str, _Change] = {
    "acknowledge": partial(_change_state, states.acknowledge, lambda: _("Finding acknowledged")),
    "resolve": partial(_change_state, states.resolve, lambda: _("Finding resolved")),
    "reopen": partial(_change_state, states.reopen, lambda: _("Finding opened again")),
    "mute": _mute,
    "assign": _assign,
    "vote": _vote,
}
