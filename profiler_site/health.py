"""Health for load balancers: live (the process answers), ready (it can do its work)."""

from django.db import connection
from django.db.utils import DatabaseError
from django.http import HttpRequest, HttpResponse


def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def ready(request: HttpRequest) -> HttpResponse:
    try:
        connection.ensure_connection()
    except DatabaseError:
        return HttpResponse(
            "The database cannot be reached.\n", content_type="text/plain", status=503
        )
    return HttpResponse("ready\n", content_type="text/plain")
