"""Page for the time in which the database is not available, instead of Django's for an error."""

import logging
import sys
from collections.abc import Mapping
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.views.defaults import server_error

from common.outages import Dependency, note_failure
from frontend import page_concurrency

log = logging.getLogger(__name__)

DATABASE_ERRORS = (OperationalError, InterfaceError)


def database_outage_page(scope: Mapping[str, Any], error: Exception) -> HttpResponse:
    """Return 503 with a page that says so, and log the error once a minute."""
    note_failure(Dependency.DATABASE, log, "Pages were answered with 503: %s", error)
    return page_concurrency.without_database(scope)


def respond_to_error(request: HttpRequest) -> HttpResponse:
    """Return 503 if the database failed, else the page for a failure of the server (handler500).

    Django calls it while it handles the exception of a view or a middleware.
    """
    error = sys.exc_info()[1]
    if not isinstance(error, DATABASE_ERRORS):
        return server_error(request)
    scope = {"path": request.path, "headers": page_concurrency.headers_of(request)}
    response = database_outage_page(scope, error)
    # Django would log a traceback for each request.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
