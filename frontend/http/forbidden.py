"""403 responses for members without the required role (other tenants get 404, see access.py)."""

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from projects.access import may_change_saved
from projects.models import Member, Role
from projects.permissions import LOWEST_ROLES, Permission, has_permission


def require_permission(member: Member, permission: Permission) -> None:
    """Raise `PermissionDenied` with a sentence that names the role that is needed."""
    if has_permission(member.role, permission):
        return
    needed = LOWEST_ROLES[permission]
    sentence = (
        _("Your role in %(project)s is %(role)s. This needs the role %(needed)s.")
        if needed is Role.OWNER
        else _("Your role in %(project)s is %(role)s. This needs the role %(needed)s or higher.")
    )
    raise PermissionDenied(
        sentence
        % {
            "project": member.project.name,
            "role": member.get_role_display().lower(),
            "needed": str(needed.label).lower(),
        }
    )


def require_may_change_saved(member: Member, creator: int | None) -> None:
    """Raise `PermissionDenied` unless the member made it (User.pk) or may change what others did.

    The route has checked that the member may save.
    """
    if not may_change_saved(member, creator):
        require_permission(member, Permission.CHANGE_SAVED)
