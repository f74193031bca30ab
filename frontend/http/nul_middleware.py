"""Django middleware that rejects requests with the character NUL in a parameter."""

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from endpoints.errors import BadField
from endpoints.nul import require_no_nul


class NulMiddleware:
    """Answer 400 for NUL in the path, the query string or a form.

    PostgreSQL cannot store it in text, and a query for it fails.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            require_no_nul([(_("address"), request.path)])
            require_no_nul(_pairs(request.GET))
            require_no_nul(_pairs(request.POST))
        except BadField as error:
            reason = _("%(field)s: the character NUL is not allowed.") % {"field": error.field}
            return HttpResponse(render_to_string("400.html", {"reason": reason}), status=400)
        return self._get_response(request)


def _pairs(fields: QueryDict) -> Iterator[tuple[str, str]]:
    return ((name, str(value)) for name, values in fields.lists() for value in values)
