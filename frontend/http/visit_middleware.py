"""Middleware of operators' read-only visits (projects/visits.py)."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils.translation import gettext as _

from projects import visits
from projects.models import User

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class VisitMiddleware:
    """Give a visiting operator the project as a viewer, and reject every change of it.

    It needs the sessions and the authentication before it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if visits.is_visiting(request.session) and isinstance(request.user, User):
            project = visits.find_project(request.session, request.user)
            request.user.visited_project = project
            is_change = request.method not in _SAFE_METHODS
            if project and is_change and request.path.startswith(f"/p/{project.project_id}/"):
                return HttpResponseForbidden(
                    _("This is a read-only visit: nothing in the project can be changed."),
                    content_type="text/plain; charset=utf-8",
                )
        return self._get_response(request)
