"""`/p/<project>/capture` (POST): request a profile now."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from django_htmx.middleware import HtmxDetails

from endpoints.params.reader import LenientReader
from frontend.components.display_names import type_name
from frontend.queries.params import PageParams, page_params
from projects.access import may_capture, membership
from projects.models import Member, User
from projects.profile_types import INSTANTANEOUS, ProfileType
from scheduler import capture_now
from scheduler.capture_now import NoMatchingAgent, TooManyPending
from scheduler.long_poll.interface import QueueUnavailable


@login_required
@require_POST
def flame_capture(request: HttpRequest, project_id: str) -> HttpResponse:
    """Request a capture and report the outcome in one sentence.

    The sentence is the response to htmx, and a message on the flame page for other clients.
    """
    member = membership(request.user, project_id)
    if not may_capture(member):
        raise PermissionDenied(_("Viewers cannot capture profiles. Ask a member of the project."))
    params = page_params(LenientReader.of_query(request.POST), timezone.now())
    sentence, is_rejected = _request_capture(member, params, cast("User", request.user))
    if HtmxDetails(request):
        context = {"sentence": sentence, "is_rejected": is_rejected}
        return render(request, "frontend/flame/said.html", context)
    messages.add_message(request, messages.WARNING if is_rejected else messages.INFO, sentence)
    return redirect(f"{reverse('flame', args=[project_id])}?{params.parameters()}")


def _request_capture(member: Member, params: PageParams, actor: User) -> tuple[str, bool]:
    """Return the sentence to show, and whether it is an error."""
    if not params.service or params.type is None:
        return _("Choose a service and a profile type first."), True
    zone, version = (params.zones or (None,))[0], (params.versions or (None,))[0]
    try:
        capture_request = capture_now.request_capture(
            member.project, params.service, params.type, zone, version, actor=actor
        )
    except (NoMatchingAgent, TooManyPending, QueueUnavailable) as error:
        return str(error), True
    return _said(params.service, params.type, capture_request.waiting), False


def _said(service: str, of: ProfileType, waiting: int) -> str:
    values = {"service": service, "type": type_name(of), "n": waiting, "seconds": _seconds(of)}
    if not waiting:
        return (
            _(
                "Requested a %(type)s profile of %(service)s. No agent is available right now;"
                " the first one within a minute captures it."
            )
            % values
        )
    return (
        ngettext(
            "Requested a %(type)s profile of %(service)s. %(n)d agent is waiting;"
            " the profile arrives in about %(seconds)d s.",
            "Requested a %(type)s profile of %(service)s. %(n)d agents are waiting;"
            " the profile arrives in about %(seconds)d s.",
            waiting,
        )
        % values
    )


def _seconds(of: ProfileType) -> int:
    """Return the expected seconds until the profile arrives: capture plus 2 s for the upload."""
    return round(0 if of in INSTANTANEOUS else settings.CAPTURE_SECONDS) + 2
