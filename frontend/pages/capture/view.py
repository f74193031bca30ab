"""`/p/<project>/capture`: request a profile now (POST), and show how far the capture has come."""

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from endpoints.params.reader import LenientReader
from frontend.components.capture_progress import CAPTURE, CaptureProgress, capture_progress
from frontend.page_query import query_context
from frontend.params.page_links import flame_url
from frontend.params.page_params import PageParams, page_params
from projects.access import membership, project_for
from projects.audit import Origin
from projects.models import Member, Project, User
from projects.usage.quota_reached import QuotaReached
from scheduler import capture_now, user_captures
from scheduler.capture_now import NoMatchingAgent, TooManyPending
from scheduler.long_poll.interface import QueueUnavailable

_REJECTIONS = (NoMatchingAgent, QueueUnavailable, QuotaReached, TooManyPending)


@require_POST
def capture(request: HttpRequest, project_id: str) -> HttpResponse:
    """Request a capture; its progress is the response to htmx, and on the flame page without."""
    member = membership(request.user, project_id)
    params = page_params(LenientReader.from_query(request.POST), timezone.now())
    id_ = _request_capture(request, member, params)
    if HtmxDetails(request):
        context = query_context(request, member.project)
        shown = capture_progress(context, member.project, id_, timezone.now())
        return _card(request, member.project, shown)
    url = flame_url(member.project, params)
    if not id_:
        messages.warning(request, _("Choose a service and a profile type first."))
        return redirect(url)
    return redirect(f"{url}&{CAPTURE.name}={id_}")


def _request_capture(request: HttpRequest, member: Member, params: PageParams) -> str:
    """Request a capture; return the id of its progress, "" without a service and a type."""
    if not params.service or params.type is None:
        return ""
    zone, version = (params.zones or (None,))[0], (params.versions or (None,))[0]
    try:
        return capture_now.request_capture(
            member.project,
            params.service,
            params.type,
            zone,
            version,
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        ).request.id
    except _REJECTIONS as error:
        return user_captures.note_rejected(
            member.project, params.service, params.type, str(error)
        ).request


@require_safe
@never_cache
def progress(request: HttpRequest, project_id: str, capture_id: str) -> HttpResponse:
    """Render the progress of a capture, which the page requests every second until the end."""
    project = project_for(request.user, project_id)
    context = query_context(request, project)
    found = capture_progress(context, project, capture_id, timezone.now())
    if found is None:
        raise Http404(_("There is no such capture in this project, or it is too long ago."))
    return _card(request, project, found)


def _card(request: HttpRequest, project: Project, shown: CaptureProgress | None) -> HttpResponse:
    values = {"project": project, "capture": shown}
    return render(request, "frontend/capture/card.html", values)
