"""`/p/<project>/flame`: the flame graph and the list of functions of the selected profiles."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from endpoints.params.reader import LenientReader
from frontend.components.empty_state import unreadable_state, with_links
from frontend.components.source_links import SourceLinks, source_links, source_version
from frontend.pages.capture.progress import CAPTURE, capture_progress
from frontend.pages.flame.flame_page import FlamePage, flame_page, not_in_time
from frontend.queries.carried import carried_of
from frontend.queries.form_address import redirect_form
from frontend.queries.page_query import page_query, query_context, seen_now
from frontend.queries.params import SEEN, read
from profiles.query import DeadlinePassed, SnapshotNotFound, SnapshotUnreadable
from projects.access import may_annotate, may_capture, may_embed, membership
from projects.models import Member


@login_required
@require_safe
def flame(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the page, or only its contents for htmx.

    An htmx request whose `seen` is still current gets 204 without content.
    """
    member = membership(request.user, project_id)
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    of = LenientReader.of_query(request.GET)
    reading, seen = read(of, now), of.read(SEEN)
    htmx = HtmxDetails(request)
    shown, empty = None, None
    context = query_context(request, member.project)
    try:
        with context.snapshot:
            query = page_query(context, member.project, reading, now)
            if query and htmx and seen and seen == seen_now(query):
                return HttpResponse(status=HTTPStatus.NO_CONTENT)
            shown = flame_page(query) if query else None
    except DeadlinePassed:
        empty = not_in_time(member.project, reading.params)
    except SnapshotUnreadable as error:
        empty = with_links(unreadable_state(str(error)), request.path)
    except SnapshotNotFound as error:
        raise Http404(str(error)) from error
    values = {
        "project": member.project,
        "here": "flame",
        "flame_page": shown,
        "range": shown.range_menu if shown else None,
        "carried": carried_of(shown.params if shown else reading.params),
        "empty": shown.empty if shown else empty,
        "links": _links(member, shown) if shown else None,
        "notices": shown.notices if shown else reading.notices,
        "may_capture": may_capture(member) and not reading.params.snapshot,
        "capture": capture_progress(context, member.project, of.read(CAPTURE), now),
        "may_embed": may_embed(member),
        "may_annotate": may_annotate(member),
    }
    response = render(request, f"frontend/flame/{'fragment' if htmx else 'flame'}.html", values)
    patch_vary_headers(response, ["HX-Request"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _links(member: Member, shown: FlamePage) -> SourceLinks:
    version = source_version(member.project, shown.params.versions, shown.selection.service)
    return source_links(member.project, member.user, version)
