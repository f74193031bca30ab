"""`/embed/<token>.svg`: a flame graph as an image, for pages of other sites."""

import hashlib
import time
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import parse_etags
from django.utils.translation import gettext as _

from common import database_pool
from endpoints.api_view import WireView
from endpoints.error_responses import error_response
from endpoints.params.reader import LenientReader
from endpoints.query_execution import admit_query, execute
from frontend.components.display_names import type_name
from frontend.components.units import format_value
from frontend.pages.embed.params import ImageParams, read_image
from frontend.pages.embed.picture import THEMES, message_svg, svg
from frontend.queries.page_query import find_metric
from frontend.queries.params import page_params
from profiles.query import QueryContext, Selection, TreeResult, run_tree
from projects.credentials import embed_tokens
from projects.credentials.authentication import Access
from projects.credentials.embed_tokens import Embed, EmbedExpired, EmbedNotFound

CACHED_SECONDS = 60
_MAX_NODES = 10_000
_NO_KEY = 0
# Any site may show the image. In a tab of its own it can run no script and load nothing.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@dataclass(frozen=True, slots=True)
class _Image:
    data: bytes
    tag: str  # ETag


class EmbedView(WireView):
    """View of one image. Every error response is an image with the reason, too."""

    http_method_names = ["get"]

    async def get(self, request: HttpRequest, token: str) -> HttpResponse:
        embed = embed_tokens.verified(token)
        project = await database_pool.run(embed_tokens.project_of, embed)
        # All images of a project count as one client of it.
        access = Access(project, embed.project_id, _NO_KEY, "embed", may_write=False, may_read=True)
        await admit_query(access)
        image_params, now = read_image(request.GET), timezone.now()
        image = await execute(access, lambda context: _image(context, embed, image_params, now))
        response = _response(image.data, HTTPStatus.OK)
        if image.tag in parse_etags(request.headers.get("if-none-match", "")):
            response = _response(b"", HTTPStatus.NOT_MODIFIED)
        seconds = max(0, min(CACHED_SECONDS, embed.expires - int(time.time())))
        response["Cache-Control"] = f"public, max-age={seconds}"
        response["ETag"] = image.tag
        return response

    def handle_exception(self, error: Exception) -> HttpResponseBase:
        theme = THEMES[read_image(self.request.GET).theme]
        if isinstance(error, EmbedNotFound):
            sentence = _("This image does not exist, or it was revoked.")
            return _error(message_svg(sentence, theme), HTTPStatus.NOT_FOUND)
        if isinstance(error, EmbedExpired):
            return _error(message_svg(_("This image has expired."), theme), HTTPStatus.GONE)
        rejection = error_response(error)
        response = _error(message_svg(rejection.message, theme), HTTPStatus(rejection.status))
        if "Retry-After" in rejection.headers:
            response["Retry-After"] = rejection.headers["Retry-After"]
        return response


def _image(context: QueryContext, embed: Embed, image_params: ImageParams, now: datetime) -> _Image:
    """Merge the profiles of the signed query and draw them."""
    params = page_params(LenientReader.of_query(QueryDict(embed.query)), now)
    if not params.service or params.type is None:
        raise EmbedNotFound
    selection = params.selection(context.project, params.service, params.type, now)
    with context.snapshot:
        metric = find_metric(context, selection, params.metric)
        view = replace(params.shown(metric), max_nodes=_MAX_NODES)
        result = run_tree(context, selection, view)
    data = svg(result, _title(selection, result), image_params.size, THEMES[image_params.theme])
    return _Image(data, f'"{hashlib.blake2b(data, digest_size=16).hexdigest()}"')


def _title(selection: Selection, result: TreeResult) -> str:
    coverage = result.coverage
    end = f"{selection.end:%Y-%m-%d %H:%M} UTC"
    parts = [selection.service, str(type_name(selection.type)), *filter(None, selection.versions)]
    parts += [f"{selection.start:%Y-%m-%d %H:%M} – {end}"]
    if coverage.profiles:
        mean = format_value(coverage.total / coverage.profiles, result.metric.unit)
        parts.append(_("%(value)s per profile") % {"value": mean})
    return " · ".join(parts)


def _error(data: bytes, status: HTTPStatus) -> HttpResponse:
    response = _response(data, status)
    response["Cache-Control"] = "no-store"
    return response


def _response(data: bytes, status: HTTPStatus) -> HttpResponse:
    return HttpResponse(data, status=status, content_type="image/svg+xml", headers=_HEADERS)
