"""Requests for a fragment or a file of a page: their detection, and their error responses."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether a fragment suffices; htmx history restoration needs the whole page."""
    htmx = HtmxDetails(request)
    return bool(htmx) and not htmx.history_restore_request


def text_error(status: HTTPStatus, sentence: str) -> HttpResponse:
    """Return an error response in plain text, where no page would show the error."""
    return HttpResponse(sentence, "text/plain; charset=utf-8", status=status)
