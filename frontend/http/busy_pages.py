"""Pages that ask the user to come back: too many requests, a passed deadline, no database.

They are made without a query; most without a thread, from the scope of the request.
"""

import logging
import sys
from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from common.outages import Dependency, note_failure
from frontend.http.fragments import json_error, text_error
from profiles.query import RETRY_SECONDS, DeadlinePassed

log = logging.getLogger(__name__)

DATABASE_ERRORS = (OperationalError, InterfaceError)
Scope = Mapping[str, Any]


def queue_full_page(scope: Scope, is_tenant_limit: bool, limit: int) -> HttpResponse:
    """Return 429 if one project or user has too many requests queued, 503 if all together have."""
    if is_tenant_limit:
        sentence = _(
            "%(limit)d requests of this project or from you are already waiting, which is the "
            "limit. Close some tabs, or wait a moment and reload this page."
        )
        return _busy(scope, HTTPStatus.TOO_MANY_REQUESTS, sentence % {"limit": limit})
    sentence = _(
        "%(limit)d requests are already waiting, which is the limit. "
        "Wait a moment and reload this page."
    )
    return _busy(scope, HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"limit": limit})


def queue_timeout_page(scope: Scope, seconds: float) -> HttpResponse:
    """Return 503 for a request that got no thread in time."""
    sentence = _(
        "This page waited more than %(seconds)d s for other queries of this project. "
        "Wait a moment and reload this page."
    )
    return _busy(scope, HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"seconds": seconds})


def deadline_page(scope: Scope) -> HttpResponse:
    """Return 503 for a page whose queries did not finish before their deadline."""
    sentence = _("The queries of this page took too long. Try a shorter time range.")
    return _busy(scope, HTTPStatus.SERVICE_UNAVAILABLE, sentence)


def invalid_query_page(scope: Scope, sentence: str) -> HttpResponse:
    """Return 400 for a page whose query exceeds a limit of its process."""
    response = _page(scope, HTTPStatus.BAD_REQUEST, sentence, _("This query is too large"))
    response["Cache-Control"] = "private, no-store"
    return response


def worker_failure_page(scope: Scope, error: Exception) -> HttpResponse:
    """Return 503 for a page whose worker process has ended, and log the error."""
    log.error("A page was answered with 503: %s", error)
    sentence = _("A process of the server has ended unexpectedly. Reload this page.")
    return _busy(scope, HTTPStatus.SERVICE_UNAVAILABLE, sentence, _("This page failed"))


def database_outage_page(scope: Scope, error: Exception) -> HttpResponse:
    """Return 503 for a page that needs the database, and log the error once a minute."""
    note_failure(Dependency.DATABASE, log, "Pages were answered with 503: %s", error)
    title = _("The database is not available")
    sentence = _("Wait a moment and reload this page. If this lasts, tell the operator.")
    return _busy(scope, HTTPStatus.SERVICE_UNAVAILABLE, sentence, title)


class DeadlineMiddleware:
    """Middleware that turns a `DeadlinePassed` which a view did not handle into a 503 response."""

    def __init__(self, get_response: Any) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response: HttpResponse = self._get_response(request)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, DeadlinePassed):
            return None
        return deadline_page(_scope(request))


def respond_to_error(request: HttpRequest) -> HttpResponse:
    """Return 503 if the database failed, else the page for a failure of the server (handler500).

    Django calls it while it handles the exception of a view or a middleware.
    """
    error = sys.exc_info()[1]
    if not isinstance(error, DATABASE_ERRORS):
        return server_error(request)
    response = database_outage_page(_scope(request), error)
    # Django would log a traceback for each request.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _scope(request: HttpRequest) -> Scope:
    headers = [(name.lower().encode(), value.encode()) for name, value in request.headers.items()]
    return {"path": request.path, "headers": headers}


def _busy(scope: Scope, status: HTTPStatus, sentence: str, title: str = "") -> HttpResponse:
    response = _page(scope, status, sentence, title or _("The server is busy"))
    response["Retry-After"] = str(ceil(RETRY_SECONDS))
    response["Cache-Control"] = "private, no-store"
    return response


def _page(scope: Scope, status: HTTPStatus, sentence: str, title: str) -> HttpResponse:
    """Return JSON for the graphs, HTML for browsers, and plain text for other clients."""
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    if scope["path"].endswith("/tree"):
        return json_error(status, sentence)
    if b"text/html" in accepts:
        values = {"title": title, "sentence": sentence}
        return HttpResponse(render_to_string("frontend/busy.html", values), status=status)
    return text_error(status, sentence + "\n")
