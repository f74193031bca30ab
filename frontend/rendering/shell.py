"""Template context of every page: the user's projects and settings of this server."""

from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from projects.access import list_projects, may_save
from projects.models import Project, User


class Shell(TypedDict):
    version: str
    signup: str  # open, invited or closed
    signup_open: bool
    sends_mail: bool
    my_projects: "SimpleLazyObject[list[Project]]"  # evaluated only where it is shown
    may_save: "SimpleLazyObject[bool]"  # in the project of the page


def shell(request: HttpRequest) -> Shell:
    """Return the template context of every page (a Django context processor)."""
    return {
        "version": settings.VERSION,
        "signup": settings.SIGNUP,
        "signup_open": settings.SIGNUP == "open",
        "sends_mail": settings.SENDS_MAIL,
        "my_projects": SimpleLazyObject(lambda: _projects(request)),
        "may_save": SimpleLazyObject(lambda: _may_save(request)),
    }


def _projects(request: HttpRequest) -> list[Project]:
    user = getattr(request, "user", None)
    return list_projects(user) if isinstance(user, User) else []


def _may_save(request: HttpRequest) -> bool:
    """Return whether the user may save views and snapshots in the project of the page's URL."""
    user, match = getattr(request, "user", None), request.resolver_match
    project_id = match.kwargs.get("project_id") if match else None
    return isinstance(user, User) and any(
        may_save(member)
        for member in user.sorted_memberships
        if member.project.project_id == project_id
    )
