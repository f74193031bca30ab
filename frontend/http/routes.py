"""Routes of pages, each declared with its audience; there is no other check of roles.

`require_guards` rejects a route that declares none, when the URLs are loaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, path
from django.utils.translation import gettext as _

from frontend.http.forbidden import require_permission
from frontend.http.fragments import json_error
from projects.access import membership
from projects.permissions import Permission

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# The arguments are those of the route's path.
View = Callable[..., HttpResponseBase]


class Audience(Enum):
    EVERYONE = "everyone"
    ACCOUNTS = "signed-in accounts"
    MEMBERS = "members of the project, by permission"


@dataclass(frozen=True, slots=True)
class Guard:
    """Audience of a route; `read` and `write` are set for members of a project."""

    audience: Audience
    read: Permission | None = None  # GET and HEAD
    write: Permission | None = None  # other methods


def public_page(route: str, view: View, name: str) -> URLPattern:
    """Declare a route for everyone, signed in or not."""

    @wraps(view)  # another function: a guard is not written onto the view itself
    def call(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs)

    return _declare(route, call, name, Guard(Audience.EVERYONE))


def account_page(route: str, view: View, name: str) -> URLPattern:
    """Declare a route for everyone with an account."""
    return _declare(route, login_required(view), name, Guard(Audience.ACCOUNTS))


def project_page(
    route: str, view: View, name: str, read: Permission, write: Permission | None = None
) -> URLPattern:
    """Declare a route under `p/<project_id>/` for members with a permission, by default for writes
    the same as for reads.

    Others get 404, members without the permission 403.
    """
    guard = Guard(Audience.MEMBERS, read, write or read)
    check = login_required(_check_permission(view, guard))
    return _declare(f"p/<str:project_id>{route}", check, name, guard)


def project_data(route: str, view: View, name: str, read: Permission) -> URLPattern:
    """Declare a route as `project_page` does, of JSON for the scripts of pages.

    Clients that are not signed in get 401: scripts cannot use a redirect to the sign-in page.
    """
    guard = Guard(Audience.MEMBERS, read, read)
    check = _check_permission(view, guard)

    @wraps(view)
    def require_account(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return json_error(HTTPStatus.UNAUTHORIZED, _("Sign in to see this project."))
        return check(request, *args, **kwargs)

    return _declare(f"p/<str:project_id>{route}", require_account, name, guard)


def _check_permission(view: View, guard: Guard) -> View:
    @wraps(view)
    def check(request: HttpRequest, project_id: str, **kwargs: Any) -> HttpResponseBase:
        member = membership(request.user, project_id)
        permission = guard.read if request.method in _SAFE_METHODS else guard.write
        if permission is not None:
            require_permission(member, permission)
        return view(request, project_id, **kwargs)

    return check


def require_guards(patterns: Sequence[URLPattern | URLResolver]) -> None:
    """Raise ImproperlyConfigured for a route that is not declared by a function of this module."""
    for pattern in patterns:
        if not isinstance(pattern, URLPattern) or find_guard(pattern) is None:
            raise ImproperlyConfigured(f"The route {pattern.pattern} declares no audience.")


def find_guard(pattern: URLPattern) -> Guard | None:
    return getattr(pattern.callback, "guard", None)


def _declare(route: str, view: View, name: str, guard: Guard) -> URLPattern:
    view.guard = guard  # type: ignore[attr-defined]
    pattern: URLPattern = path(route, view, name=name)
    return pattern
