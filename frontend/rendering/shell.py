"""Template context of every page: the user's projects and settings of this server."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from alerts.firing_alerts import count_firing
from findings.new_findings import count_new
from frontend.rendering.settings_menu import MenuLink, build_menu
from projects.access import list_projects, may_request_quotas
from projects.models import Member, Project, User
from projects.permissions import Permission, has_permission
from projects.usage.quota_reached import amount_text
from projects.usage.usage import LABELS
from projects.usage.warnings import get_warnings


@dataclass(frozen=True, slots=True)
class QuotaBanner:
    """A quota that is nearly full or full; `more` counts further ones."""

    label: str
    used: str
    allowed: str
    is_full: bool
    more: int


class Shell(TypedDict):
    version: str
    signup: str  # open, invited or closed
    signup_open: bool
    sends_mail: bool
    passkeys: bool
    my_projects: "SimpleLazyObject[list[Project]]"  # evaluated only where it is shown
    may_save: "SimpleLazyObject[bool]"  # in the project of the page
    settings_menu: "SimpleLazyObject[list[MenuLink]]"
    quota_banner: "SimpleLazyObject[QuotaBanner | None]"
    count_new_findings: Callable[[], int]  # called by templates
    count_firing_alerts: Callable[[], int]


def shell(request: HttpRequest) -> Shell:
    """Return the template context of every page (a Django context processor)."""
    return {
        "version": settings.VERSION,
        "signup": settings.SIGNUP,
        "signup_open": settings.SIGNUP == "open",
        "sends_mail": settings.SENDS_MAIL,
        "passkeys": settings.PASSKEYS,
        "my_projects": SimpleLazyObject(lambda: _projects(request)),
        "may_save": SimpleLazyObject(lambda: _has_permission(request, Permission.SAVE)),
        "settings_menu": SimpleLazyObject(lambda: _settings_menu(request)),
        "quota_banner": SimpleLazyObject(lambda: _build_banner(request)),
        "count_new_findings": cache(partial(_count, request, count_new)),
        "count_firing_alerts": cache(partial(_count, request, count_firing)),
    }


def _projects(request: HttpRequest) -> list[Project]:
    user = getattr(request, "user", None)
    return list_projects(user) if isinstance(user, User) else []


def _has_permission(request: HttpRequest, permission: Permission) -> bool:
    """Return whether the user has a permission in the project of the page's URL."""
    member = _find_member(request)
    return member is not None and has_permission(member.role, permission)


def _settings_menu(request: HttpRequest) -> list[MenuLink]:
    member = _find_member(request)
    return [] if member is None else build_menu(request, member)


def _count(request: HttpRequest, count: Callable[[int], int]) -> int:
    """Return a number of the page's project (by its pk); 0 on other pages."""
    member = _find_member(request)
    return 0 if member is None else count(member.project.pk)


def _build_banner(request: HttpRequest) -> QuotaBanner | None:
    """Return the fullest quota of the page's project, for those who may request more.

    The usage page itself tells about all of them.
    """
    member = _find_member(request)
    is_usage_page = request.resolver_match and request.resolver_match.url_name == "usage"
    if member is None or is_usage_page or not may_request_quotas(member):
        return None
    warnings = get_warnings(member.project.pk)
    if not warnings:
        return None
    first = next((each for each in warnings if each.is_full), warnings[0])
    return QuotaBanner(
        label=str(LABELS[first.limit]),
        used=amount_text(first.limit, first.used),
        allowed=amount_text(first.limit, first.allowed),
        is_full=first.is_full,
        more=len(warnings) - 1,
    )


def _find_member(request: HttpRequest) -> Member | None:
    """Return the user's membership of the project of the page's URL."""
    user, match = getattr(request, "user", None), request.resolver_match
    project_id = match.kwargs.get("project_id") if match else None
    memberships = user.sorted_memberships if isinstance(user, User) else []
    return next((each for each in memberships if each.project.project_id == project_id), None)
