"""Access checks of pages, one helper per resource.

A resource of another tenant is 404, never 403.
"""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.utils.translation import gettext as _

from projects.models import Member, Project, Role, User

_MAY_CHANGE = {Role.OWNER, Role.ADMIN}


def list_projects(user: User) -> list[Project]:
    """Return the projects that a user is a member of, sorted by name."""
    return [member.project for member in user.sorted_memberships]


def project_for(user: User | AnonymousUser, project_id: str) -> Project:
    """Return the project if the user is a member of it; raise Http404 otherwise."""
    return membership(user, project_id).project


def membership(user: User | AnonymousUser, project_id: str) -> Member:
    """Return the user's membership with its project; raise Http404 if there is none."""
    if isinstance(user, User):
        for member in user.sorted_memberships:
            if member.project.project_id == project_id:
                return member
    raise Http404(_("There is no such project, or you are not a member of it."))


def may_change(member: Member) -> bool:
    """Return True for owners and admins, who may change keys, settings and members."""
    return member.role in _MAY_CHANGE


def may_import(member: Member) -> bool:
    """Return True for all roles except viewers: imported profiles count against the quotas."""
    return member.role != Role.VIEWER


def may_capture(member: Member) -> bool:
    """Return True for all roles except viewers: a capture costs the profiled program CPU time."""
    return member.role != Role.VIEWER


def may_save(member: Member) -> bool:
    """Return True for all roles except viewers: what members save takes the project's space."""
    return member.role != Role.VIEWER


def may_change_saved(member: Member, creator: int | None) -> bool:
    """Return True for the creator (User.pk) of something saved, and for owners and admins."""
    return may_save(member) and (may_change(member) or creator == member.user_id)


def may_annotate(member: Member) -> bool:
    """Return True for all roles except viewers, who change nothing."""
    return member.role != Role.VIEWER


def may_embed(member: Member) -> bool:
    """Return True for all roles except viewers: an embedded image is public until it expires."""
    return member.role != Role.VIEWER
