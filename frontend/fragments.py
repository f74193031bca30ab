"""Requests of htmx for a part of a page."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether a part is enough: for a step back in the history htmx asks for the page."""
    htmx = HtmxDetails(request)
    return bool(htmx) and not htmx.history_restore_request
