"""Requests for a fragment, a file or the data of a page: their detection, and error responses."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether a fragment suffices; htmx history restoration needs the whole page."""
    htmx = HtmxDetails(request)
    return bool(htmx) and not htmx.history_restore_request


def text_error(status: HTTPStatus, sentence: str) -> HttpResponse:
    """Return an error response in plain text, where no page would show the error."""
    return HttpResponse(sentence, "text/plain; charset=utf-8", status=status)


def json_error(status: HTTPStatus, sentence: str) -> JsonResponse:
    """Return an error response for a script that requested data."""
    response = JsonResponse({"error": sentence}, status=status)
    response["Cache-Control"] = "private, no-store"
    return response
