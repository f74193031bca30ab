"""Access of people who upload files in the console: their session in place of an API key."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, parse_cookie
from django.middleware.csrf import CsrfViewMiddleware

from common import database_pool
from common.asgi import Scope, note_authenticated
from endpoints.errors import NotFound, WrongScope
from projects.access import may_import, membership
from projects.credentials.authentication import Access, ProjectSuspended

NO_KEY = 0  # in place of the primary key of an API key


def has_session(headers: Mapping[str, str]) -> bool:
    """Return True if the request carries the cookie of a session."""
    return settings.SESSION_COOKIE_NAME in parse_cookie(headers.get("cookie", ""))


async def access(scope: Scope, project_id: str) -> Access:
    """Return the access of the signed-in member to a project.

    Raise NotFound for people who are not members, and WrongScope for viewers and without a valid
    CSRF token in the header X-CSRFToken.
    """
    member_access = await database_pool.run(_load, scope, project_id)
    note_authenticated(scope, ("project", member_access.project))
    return member_access


def _load(scope: Scope, project_id: str) -> Access:
    request = ASGIRequest(scope, BytesIO(b""))
    SessionMiddleware(_no_response).process_request(request)
    AuthenticationMiddleware(_no_response).process_request(request)
    csrf = CsrfViewMiddleware(_no_response)
    csrf.process_request(request)
    if csrf.process_view(request, _no_response, (), {}) is not None:
        raise WrongScope("The CSRF token is missing or expired. Reload the page, and try again.")
    try:
        member = membership(request.user, project_id)
    except Http404:
        raise NotFound("There is no such project, or you are not a member of it.") from None
    if not may_import(member):
        raise WrongScope("Uploading profiles needs the role member or higher in this project.")
    if member.project.suspended:
        raise ProjectSuspended(project_id, member.project.suspension_reason)
    return Access(
        project=member.project.pk,
        project_id=project_id,
        key=NO_KEY,
        prefix="",
        may_write=True,
        may_read=False,
        user=member.user_id,
    )


def _no_response(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    """Return an empty response: only the checks of the middleware before a view run here."""
    return HttpResponse()
