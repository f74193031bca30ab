"""Who may see what: one helper per resource; what is another tenant's is 404, never 403."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.utils.translation import gettext as _

from projects.models import Member, Project, Role, User

_MAY_CHANGE = {Role.OWNER, Role.ADMIN}


def projects_of(user: User) -> list[Project]:
    """The projects that a person belongs to, by name."""
    return [member.project for member in user.in_projects]


def project_for(user: User | AnonymousUser, project_id: str) -> Project:
    """The project, if the person belongs to it; Http404 otherwise."""
    return membership(user, project_id).project


def membership(user: User | AnonymousUser, project_id: str) -> Member:
    """The person's membership with its project; Http404 for everyone else's."""
    if isinstance(user, User):
        for member in user.in_projects:
            if member.project.project_id == project_id:
                return member
    raise Http404(_("There is no such project, or you are not a member of it."))


def may_change(member: Member) -> bool:
    """Keys, settings and members are for owners and admins."""
    return member.role in _MAY_CHANGE


def may_capture(member: Member) -> bool:
    """Viewers look; a capture costs a running program something."""
    return member.role != Role.VIEWER
