"""Deletion of an account by its owner."""

from django.db import transaction

from projects import audit, invitations
from projects.audit import Origin
from projects.members import is_last_owner
from projects.models import Member, Project, Role, User


class ProjectsWithoutOwner(Exception):
    """Deletion of an account that is the only owner of projects."""

    def __init__(self, projects: list[Project]) -> None:
        super().__init__()
        self.projects = projects


def list_sole_owner_projects(user: User) -> list[Project]:
    """Return the projects whose only owner the account is, without those that are deleted."""
    rows = Member.objects.filter(user=user, role=Role.OWNER, project__deletion_due=None)
    members = rows.select_related("project").order_by("project__name", "pk")
    return [member.project for member in members if is_last_owner(member)]


def delete_account(user: User, *, origin: Origin) -> None:
    """Delete an account with its sessions, tokens and memberships; what it created stays.

    Raise ProjectsWithoutOwner if a project would have no owner.
    """
    with transaction.atomic():
        owned = Member.objects.filter(user=user, role=Role.OWNER).values("project")
        # By primary key, as elsewhere: two requests in different orders would wait for each other.
        list(Project.objects.select_for_update(no_key=True).filter(pk__in=owned).order_by("pk"))
        left = list_sole_owner_projects(user)
        if left:
            raise ProjectsWithoutOwner(left)
        for member in Member.objects.filter(user=user).select_related("project"):
            invitations.revoke_all_by_inviter(user, member.project, actor=user, origin=origin)
        audit.record_account(user, "user.delete", actor=user, origin=origin)
        user.delete()
