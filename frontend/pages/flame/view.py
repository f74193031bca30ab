"""`/p/<project>/flame`: the flame graph and the list of functions of the selected profiles."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from endpoints.params.reader import LenientReader
from frontend.components.capture_progress import CAPTURE, capture_progress
from frontend.components.functions.source_links import SourceLinks, source_links, source_version
from frontend.components.results.empty_state import EmptyStateLinks, unreadable_state, with_links
from frontend.http.late_content import with_late_content
from frontend.page_query import PageQuery, load_version_tag, query_context, resolve_page_query
from frontend.pages.flame.flame_page import FlamePage, flame_page, timeout_state, tree_url
from frontend.params.form_address import redirect_form
from frontend.params.page_links import get_carried
from frontend.params.page_params import SEEN, ParsedParams, read
from frontend.text.display_names import type_name
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext, SavedTreeNotFound
from projects.access import may_annotate, may_capture, may_embed, membership
from projects.models import Member


@require_safe
def flame(request: HttpRequest, project_id: str) -> HttpResponseBase:
    """Render the page, or only its contents for htmx.

    An htmx request whose `seen` is still current gets 204 without content. The page is sent up to
    its contents before their profiles are merged; errors of the merge are shown in it.
    """
    member = membership(request.user, project_id)
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    reading, seen = read(reader, now), reader.read(SEEN)
    context = query_context(request, member.project)
    contents = _Contents(request, member, context, reading, reader.read(CAPTURE), now)
    htmx = HtmxDetails(request)
    try:
        with context.snapshot:
            contents.query = resolve_page_query(context, member.project, reading, now)
            if contents.query and htmx and seen and seen == load_version_tag(contents.query):
                return HttpResponse(status=HTTPStatus.NO_CONTENT)
            if htmx:
                contents.load()
    except DeadlinePassed:
        contents.empty = timeout_state(member.project, reading.params)
    except SavedTreeNotFound as error:
        raise Http404(str(error)) from error
    response: HttpResponseBase
    if htmx:
        response = HttpResponse(contents.render())
    else:
        response = with_late_content(request, contents.page(), contents.load_and_render)
    patch_vary_headers(response, ["HX-Request"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@dataclass(slots=True)
class _Contents:
    """Contents of a page: rendered from a query that is resolved and, later, merged."""

    request: HttpRequest
    member: Member
    context: QueryContext
    reading: ParsedParams
    capture: str
    now: datetime
    query: PageQuery | None = None
    shown: FlamePage | None = None
    empty: EmptyStateLinks | None = None
    merge_key: str = ""  # "": requests for the graph and the list name the version of the result

    def load(self) -> None:
        """Merge the profiles of the query, or set the reason why there is nothing to show."""
        if self.query is None or self.empty is not None:
            return
        try:
            with self.context.snapshot:
                self.shown = flame_page(self.query, self.merge_key)
        except DeadlinePassed:
            self.empty = timeout_state(self.member.project, self.reading.params)
        except InvalidQuery as error:  # SavedTreeUnreadable, or a result over a limit
            self.empty = with_links(unreadable_state(str(error)), self.request.path)

    def load_and_render(self) -> str:
        self.load()
        return self.render()

    def render(self) -> str:
        return render_to_string("frontend/flame/fragment.html", self._values(), self.request)

    def page(self) -> str:
        """Render the page around the contents."""
        values = self._common() | {"early_tree_url": self._early_tree()}
        return render_to_string("frontend/flame/flame.html", values, self.request)

    def _early_tree(self) -> str:
        """Return the URL by which the page requests its tree while the profiles are merged.

        It has a key under which the merge is cached; return "" if the page shows no graph.
        """
        if self.query is None or self.empty is not None or self.query.params.view == "list":
            return ""
        self.merge_key = f"merge-{secrets.token_hex(8)}"
        url, params = tree_url(self.query, self.merge_key), self.query.params
        # A search or a zoomed frame may be of any node.
        return url if params.frame or params.search or params.recursion else f"{url}&preview=1"

    def _common(self) -> dict[str, Any]:
        query = self.query
        return {
            "project": self.member.project,
            "here": "flame",
            "query": query,
            "type": type_name(query.selection.type) if query else "",
            "carried": get_carried(query.params if query else self.reading.params),
        }

    def _values(self) -> dict[str, Any]:
        shown, member = self.shown, self.member
        return self._common() | {
            "flame_page": shown,
            "range": shown.range_menu if shown else None,
            "carried": get_carried(shown.params if shown else self.reading.params),
            "empty": shown.empty if shown else self.empty,
            "links": _links(member, shown) if shown else None,
            "notices": shown.notices if shown else self.reading.notices,
            "may_capture": may_capture(member) and not self.reading.params.snapshot,
            "capture": capture_progress(self.context, member.project, self.capture, self.now),
            "may_embed": may_embed(member),
            "may_annotate": may_annotate(member),
        }


def _links(member: Member, shown: FlamePage) -> SourceLinks:
    version = source_version(member.project, shown.params.versions, shown.selection.service)
    return source_links(member.project, member.user, version)
