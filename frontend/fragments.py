"""Detection of htmx requests that need only a fragment of a page."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether a fragment suffices; htmx history restoration needs the whole page."""
    htmx = HtmxDetails(request)
    return bool(htmx) and not htmx.history_restore_request
