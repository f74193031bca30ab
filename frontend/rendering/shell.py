"""Template context of every page: the user's projects and settings of this server."""

from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from projects.access import list_projects
from projects.models import Project, User
from projects.permissions import Permission, has_permission


class Shell(TypedDict):
    version: str
    signup: str  # open, invited or closed
    signup_open: bool
    sends_mail: bool
    my_projects: "SimpleLazyObject[list[Project]]"  # evaluated only where it is shown
    may_save: "SimpleLazyObject[bool]"  # in the project of the page
    may_read_audit: "SimpleLazyObject[bool]"
    may_delete_data: "SimpleLazyObject[bool]"


def shell(request: HttpRequest) -> Shell:
    """Return the template context of every page (a Django context processor)."""
    return {
        "version": settings.VERSION,
        "signup": settings.SIGNUP,
        "signup_open": settings.SIGNUP == "open",
        "sends_mail": settings.SENDS_MAIL,
        "my_projects": SimpleLazyObject(lambda: _projects(request)),
        "may_save": SimpleLazyObject(lambda: _has_permission(request, Permission.SAVE)),
        "may_read_audit": SimpleLazyObject(lambda: _has_permission(request, Permission.READ_AUDIT)),
        "may_delete_data": SimpleLazyObject(
            lambda: _has_permission(request, Permission.DELETE_PROJECT)
        ),
    }


def _projects(request: HttpRequest) -> list[Project]:
    user = getattr(request, "user", None)
    return list_projects(user) if isinstance(user, User) else []


def _has_permission(request: HttpRequest, permission: Permission) -> bool:
    """Return whether the user has a permission in the project of the page's URL."""
    user, match = getattr(request, "user", None), request.resolver_match
    project_id = match.kwargs.get("project_id") if match else None
    return isinstance(user, User) and any(
        has_permission(member.role, permission)
        for member in user.sorted_memberships
        if member.project.project_id == project_id
    )
