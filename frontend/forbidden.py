"""403 responses for members without the required role (other tenants get 404, see access.py)."""

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from projects.access import may_change
from projects.models import Member


def only_who_may_change(member: Member) -> None:
    """Raise `PermissionDenied` with the message to show unless the member may change settings."""
    if not may_change(member):
        raise PermissionDenied(
            _("Your role in %(project)s is %(role)s. Owners and admins can change this.")
            % {"role": member.get_role_display().lower(), "project": member.project.name}
        )
