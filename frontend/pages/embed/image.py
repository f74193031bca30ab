"""`/embed/<token>.svg` and `.png`: a flame graph or comparison as an image, for other sites."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import parse_etags
from django.utils.translation import gettext as _

from common import database_pool
from endpoints.api_view import WireView
from endpoints.error_responses import error_response
from endpoints.params.reader import LenientReader
from endpoints.params.view import filter_text
from endpoints.query_execution import admit_query, execute
from frontend.components.functions.package_colours import PackageColours
from frontend.page_query import find_metric
from frontend.pages.embed.difference import difference_picture, mean_totals
from frontend.pages.embed.params import ImageParams, read_image
from frontend.pages.embed.picture import GraphPicture, flame_picture, message_picture
from frontend.pages.embed.png import png
from frontend.pages.embed.svg import svg
from frontend.pages.embed.theme import THEMES
from frontend.params.compare_params import read as read_comparison
from frontend.params.page_params import page_params
from frontend.text.display_names import type_name
from frontend.text.units import format_value
from profiles.query import (
    CompareResult,
    ProfileSelection,
    QueryContext,
    QueryJob,
    TreeResult,
    run_compare,
    run_tree_and_functions,
)
from projects.credentials import embed_tokens
from projects.credentials.authentication import Access
from projects.credentials.embed_tokens import COMPARE, Embed, EmbedExpired, EmbedNotFound

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


class ImageFormat(NamedTuple):
    """Content type, and a function of the picture, its scale and a check that may raise."""

    type: str
    draw: Callable[[GraphPicture, int, Callable[[], None]], bytes]


FORMATS: Mapping[str, ImageFormat] = {
    "svg": ImageFormat("image/svg+xml", lambda picture, _scale, _check: svg(picture)),
    "png": ImageFormat("image/png", png),
}


class EmbedView(WireView):
    """View of one image. Every error response is an image with the reason, too."""

    http_method_names = ["get"]
    ending = ""  # of the URL; a key of FORMATS

    async def get(self, request: HttpRequest, token: str) -> HttpResponse:
        embed = embed_tokens.verify(token)
        project = await database_pool.run(embed_tokens.find_project, embed)
        # All images of a project count as one client of it.
        access = Access(project, embed.project_id, _NO_KEY, "embed", may_write=False, may_read=True)
        await admit_query(access)
        image_params, now = read_image(request.GET), timezone.now()

        job = QueryJob(draw_embed, (embed, image_params, now, self.ending))
        data = await execute(access, job, kind="embed")
        tag = f'"{hashlib.blake2b(data, digest_size=16).hexdigest()}"'
        response = self._response(data, HTTPStatus.OK)
        if tag in parse_etags(request.headers.get("if-none-match", "")):
            response = self._response(b"", HTTPStatus.NOT_MODIFIED)
        seconds = max(0, min(CACHED_SECONDS, embed.expires - int(time.time())))
        response["Cache-Control"] = f"public, max-age={seconds}"
        response["ETag"] = tag
        return response

    def handle_exception(self, error: Exception) -> HttpResponseBase:
        if isinstance(error, EmbedNotFound):
            sentence = _("This image does not exist, or it was revoked.")
            return self._error(sentence, HTTPStatus.NOT_FOUND)
        if isinstance(error, EmbedExpired):
            return self._error(_("This image has expired."), HTTPStatus.GONE)
        rejection = error_response(error)
        response = self._error(rejection.message, HTTPStatus(rejection.status))
        if "Retry-After" in rejection.headers:
            response["Retry-After"] = rejection.headers["Retry-After"]
        return response

    @property
    def _format(self) -> ImageFormat:
        return FORMATS[self.ending]

    def _error(self, sentence: str, status: HTTPStatus) -> HttpResponse:
        params = read_image(self.request.GET)
        picture = message_picture(sentence, THEMES[params.theme])
        response = self._response(_draw_result(self._format, picture, params.scale), status)
        response["Cache-Control"] = "no-store"
        return response

    def _response(self, data: bytes, status: HTTPStatus) -> HttpResponse:
        return HttpResponse(data, status=status, content_type=self._format.type, headers=_HEADERS)


def draw_embed(
    context: QueryContext, embed: Embed, params: ImageParams, now: datetime, ending: str
) -> bytes:
    """Return the image of an embedded view, also in a worker process."""
    picture = _picture(context, embed, params, now)
    return FORMATS[ending].draw(picture, params.scale, context.check)


@lru_cache(maxsize=64)
def _draw_result(image_format: ImageFormat, message: GraphPicture, scale: int) -> bytes:
    """Draw the few messages that anyone can ask for without a valid token."""
    return image_format.draw(message, scale, lambda: None)


def _picture(
    context: QueryContext, embed: Embed, image_params: ImageParams, now: datetime
) -> GraphPicture:
    """Merge the profiles of the signed query and lay them out."""
    if embed.page == COMPARE:
        return _compare(context, embed, image_params, now)
    params = page_params(LenientReader.from_query(QueryDict(embed.query)), now)
    if not params.service or params.type is None:
        raise EmbedNotFound
    selection = params.profile_selection(context.project, params.service, params.type, now)
    with context.snapshot:
        metric = find_metric(context, selection, params.metric)
        view = replace(params.build_view(metric), max_nodes=_MAX_NODES)
        result, functions = run_tree_and_functions(context, selection, view)
    colours = PackageColours(functions.rows_for_packages, context.check)
    title, theme = _title(selection, result), THEMES[image_params.theme]
    return flame_picture(result, colours, title, image_params.size, theme)


def _compare(
    context: QueryContext, embed: Embed, image_params: ImageParams, now: datetime
) -> GraphPicture:
    """Compare the profiles of both sides of the signed query and lay them out."""
    query, _notices = read_comparison(LenientReader.from_query(QueryDict(embed.query)), now)
    service, type_ = query.selected.service, query.selected.type
    if not service or type_ is None:
        raise EmbedNotFound
    # Saved trees belong to pages.
    selected, baseline = (
        params.profile_selection(context.project, service, type_, now)
        for params in (query.selected, query.baseline)
    )
    with context.snapshot:
        metric = find_metric(context, selected, query.selected.metric)
        view = replace(query.selected.build_view(metric), max_nodes=_MAX_NODES)
        result = run_compare(context, selected, baseline, view)
    title, theme = _comparison_title(selected, baseline, result), THEMES[image_params.theme]
    return difference_picture(result, title, image_params.size, theme)


def _comparison_title(
    selected: ProfileSelection, baseline: ProfileSelection, result: CompareResult
) -> str:
    sides = (_side_title(baseline), _side_title(selected))
    parts = [selected.service, str(type_name(selected.type))]
    parts += [filter_text(each) for each in result.view.filters]
    if all(coverage.profiles for coverage in result.coverages):
        before, after = mean_totals(result)
        values = " → ".join(format_value(each, result.metric.unit) for each in (before, after))
        parts.append(_("%(value)s per profile") % {"value": values})
    return " · ".join([*parts, " → ".join(sides)])  # the ends of long titles are cut


def _side_title(selection: ProfileSelection) -> str:
    versions = "".join(f" {version}" for version in selection.versions)
    start = f"{selection.start:%Y-%m-%d %H:%M}"
    same_day = selection.start.date() == selection.end.date()
    end = f"{selection.end:%H:%M}" if same_day else f"{selection.end:%Y-%m-%d %H:%M}"
    return f"{start} – {end} UTC{versions}"


def _title(selection: ProfileSelection, result: TreeResult) -> str:
    coverage = result.coverage
    end = f"{selection.end:%Y-%m-%d %H:%M} UTC"
    parts = [selection.service, str(type_name(selection.type)), *filter(None, selection.versions)]
    parts += [f"{selection.start:%Y-%m-%d %H:%M} – {end}"]
    if coverage.profiles:
        mean = format_value(result.drawn_total / coverage.profiles, result.metric.unit)
        parts.append(_("%(value)s per profile") % {"value": mean})
    return " · ".join(parts)
