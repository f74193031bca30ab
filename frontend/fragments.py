"""Whether htmx wants a part of the page."""

from django.http import HttpRequest


def wants_fragment(request: HttpRequest) -> bool:
    """Not for the whole page that htmx asks for when one goes back: that is "full"."""
    return request.headers.get("HX-Request-Type") == "partial"
