"""What a member may see but not do: 403 with the reason. (Another tenant's is 404: access.py.)"""

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from projects.access import may_change
from projects.models import Member


def only_who_may_change(member: Member) -> None:
    """Raises PermissionDenied with the sentence that the page shows."""
    if not may_change(member):
        raise PermissionDenied(
            _("You are a %(role)s of %(project)s. Its owners and admins change this.")
            % {"role": member.get_role_display().lower(), "project": member.project.name}
        )
