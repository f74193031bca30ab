"""Access checks of pages, one helper per resource.

A resource of another tenant is 404, never 403. Routes check permissions (frontend/http/routes.py);
the predicates here tell pages which of their controls to show.
"""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.utils.translation import gettext as _

from projects.models import Member, Project, Role, User
from projects.permissions import Permission, has_permission


def list_projects(user: User) -> list[Project]:
    """Return the projects that a user is a member of, sorted by name."""
    return [member.project for member in user.sorted_memberships]


def project_for(user: User | AnonymousUser, project_id: str) -> Project:
    """Return the project if the user is a member of it; raise Http404 otherwise."""
    return membership(user, project_id).project


def membership(user: User | AnonymousUser, project_id: str) -> Member:
    """Return the user's membership with its project; raise Http404 if there is none.

    An operator who visits the project is a viewer, without a row.
    """
    if isinstance(user, User):
        for member in user.sorted_memberships:
            if member.project.project_id == project_id:
                return member
        visited = user.visited_project
        if visited is not None and visited.project_id == project_id:
            return Member(project=visited, user=user, role=Role.VIEWER)
    raise Http404(_("There is no such project, or you are not a member of it."))


def may_manage_keys(member: Member) -> bool:
    return has_permission(member.role, Permission.MANAGE_KEYS)


def may_change_settings(member: Member) -> bool:
    return has_permission(member.role, Permission.CHANGE_SETTINGS)


def may_change_retention(member: Member) -> bool:
    return has_permission(member.role, Permission.CHANGE_RETENTION)


def may_request_quotas(member: Member) -> bool:
    return has_permission(member.role, Permission.REQUEST_QUOTAS)


def may_manage_people(member: Member) -> bool:
    return has_permission(member.role, Permission.MANAGE_PEOPLE)


def may_manage_owners(member: Member) -> bool:
    return has_permission(member.role, Permission.MANAGE_OWNERS)


def may_import(member: Member) -> bool:
    """Return True for roles that may upload: imported profiles count against the quotas."""
    return has_permission(member.role, Permission.IMPORT)


def may_capture(member: Member) -> bool:
    """Return True for roles that may capture: it costs the profiled program CPU time."""
    return has_permission(member.role, Permission.CAPTURE)


def may_save(member: Member) -> bool:
    """Return True for roles that may save: what members save takes the project's space."""
    return has_permission(member.role, Permission.SAVE)


def may_change_saved(member: Member, creator: int | None) -> bool:
    """Return True for the creator (User.pk) of something saved, and for owners and admins."""
    is_own = may_save(member) and creator == member.user_id
    return is_own or has_permission(member.role, Permission.CHANGE_SAVED)


def may_annotate(member: Member) -> bool:
    return has_permission(member.role, Permission.ANNOTATE)


def may_embed(member: Member) -> bool:
    """Return True for roles that may embed: an embedded image is public until it expires."""
    return has_permission(member.role, Permission.EMBED)


def may_revoke_embeds(member: Member) -> bool:
    return has_permission(member.role, Permission.REVOKE_EMBEDS)
