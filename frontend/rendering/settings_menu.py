"""Side menu of the settings pages, with the pages that the member may see."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import Member
from projects.permissions import Permission, has_permission


@dataclass(frozen=True, slots=True)
class _Page:
    view: str  # name of its URL
    label: Promise
    permission: Permission = Permission.VIEW


@dataclass(frozen=True, slots=True)
class MenuLink:
    url: str
    label: Promise
    is_current: bool


_PAGES = (
    _Page("settings", _("Project")),
    _Page("members", _("Members")),
    _Page("api_keys", _("API keys")),
    _Page("usage", _("Quotas and usage")),
    _Page("notifications", _("Notifications")),
    _Page("prices", _("Prices")),
    _Page("audit", _("Audit log"), Permission.READ_AUDIT),
    _Page("data", _("Export and delete"), Permission.DELETE_PROJECT),
)


def build_menu(request: HttpRequest, member: Member) -> list[MenuLink]:
    """Return the links, of which that to the page of the request is the current one.

    Pages below a page of the menu count as that one.
    """
    paths = [reverse(page.view, args=[member.project.project_id]) for page in _PAGES]
    above = [path for path in paths if f"{request.path}/".startswith(f"{path}/")]
    current = max(above, key=len, default="")
    return [
        MenuLink(path, page.label, path == current)
        for page, path in zip(_PAGES, paths, strict=True)
        if has_permission(member.role, page.permission)
    ]
