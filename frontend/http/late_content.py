"""Pages whose first part is sent before their queries have ended."""

import logging
from collections.abc import Callable, Iterator

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import translation

# Stands for the late content in the template of a page; names from outside cannot contain it,
# because they are escaped.
MARKER = "<late-content></late-content>"

logger = logging.getLogger("django.request")


def with_late_content(
    request: HttpRequest, page: str, content: Callable[[], str]
) -> HttpResponseBase:
    """Return a response with `content()` in place of the MARKER of a rendered page.

    Requests that `PageHandler` runs get the page up to the marker at once. Cookies, messages and
    headers have to be complete by then. If `content()` fails after that, the error is logged, and
    the page says so. Other requests, and those for the head only, get a usual response.
    """
    before, _, after = page.partition(MARKER)
    if not getattr(request, "is_streamed", False):
        return HttpResponse(f"{before}{content()}{after}")
    if request.method == "HEAD":
        return HttpResponse()
    parts = _parts(request, before, content, after, translation.get_language())
    return StreamingHttpResponse(parts)


def _parts(
    request: HttpRequest,
    before: str,
    content: Callable[[], str],
    after: str,
    language: str | None,
) -> Iterator[str]:
    yield before
    # The language of the request has ended with its middleware.
    with translation.override(language):
        try:
            late = content()
        except Exception:
            logger.exception("Internal Server Error: %s", request.path, extra={"request": request})
            got_request_exception.send(sender=None, request=request)
            late = render_to_string("frontend/parts/failed.html")
    yield late + after
