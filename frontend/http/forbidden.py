"""403 responses for members without the required role (other tenants get 404, see access.py)."""

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from projects.access import may_change, may_change_saved, may_save
from projects.models import Member


def require_may_change(member: Member) -> None:
    """Raise `PermissionDenied` with the message to show unless the member may change settings."""
    if not may_change(member):
        raise PermissionDenied(
            _("Your role in %(project)s is %(role)s. Owners and admins can change this.")
            % {"role": member.get_role_display().lower(), "project": member.project.name}
        )


def require_may_save(member: Member) -> None:
    """Raise `PermissionDenied` for viewers, with the message to show."""
    if not may_save(member):
        raise PermissionDenied(
            _("Viewers cannot save anything in a project. Ask one of its owners for another role.")
        )


def require_may_change_saved(member: Member, creator: int | None) -> None:
    """Raise `PermissionDenied` unless the member made it (User.pk) or is an owner or admin."""
    if not may_change_saved(member, creator):
        raise PermissionDenied(
            _("Only its creator, and owners and admins of the project, can change this.")
        )
