"""Members of a project: change roles, remove, leave and transfer.

Each change locks the project and reads the roles again in its transaction: the last owner stays,
also if two owners leave at once, and a person whose role was just taken changes nothing.
"""

from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from projects import account_limits, audit, invitations
from projects.audit import NO_CLIENT, Origin
from projects.models import Member, Project, Role, User
from projects.permissions import ROLES, Permission, has_permission


class PermissionNeeded(Exception):
    """Change beyond the role of the person who makes it."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(permission.value)
        self.permission = permission


class MemberChanged(Exception):
    """Change that the state of the project forbids; the text says why and what to do."""


class LastOwner(MemberChanged):
    def __init__(self, project: Project) -> None:
        super().__init__(
            _(
                "%(project)s would have no owner. Make another member owner first, or transfer the"
                " project."
            )
            % {"project": project.name}
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """Memberships as they are in the transaction that changes them."""

    actor: Member
    target: Member


def list_members(project: Project) -> list[Member]:
    """Return the members with their accounts, in the order in which they joined."""
    rows = Member.objects.filter(project=project).select_related("user")
    return list(rows.order_by("since", "pk"))


def assignable_roles(actor: Member, target: Member) -> tuple[Role, ...]:
    """Return the roles that a member may give to another one, lowest first; none: no change."""
    permission = _find_permission(target.role, target.role)
    if not has_permission(actor.role, permission):
        return ()
    roles = (role for role in ROLES if has_permission(actor.role, _find_permission(role, role)))
    return tuple(roles)


def is_last_owner(member: Member) -> bool:
    owners = Member.objects.filter(project=member.project_id, role=Role.OWNER)
    return member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists()


def change_role(actor: Member, target: Member, role: Role, *, origin: Origin = NO_CLIENT) -> None:
    """Give a member another role.

    Raise PermissionNeeded for a role above the actor's, MemberChanged, LastOwner, or
    account_limits.LimitReached if the new owner owns as many projects as the account may.
    """
    with transaction.atomic():
        change = _lock(actor, target)
        before = change.target.role
        _require(change.actor, _find_permission(before, role))
        if before == role:
            return
        if before == Role.OWNER:
            _require_other_owner(change.target)
        if role is Role.OWNER:
            account_limits.require_project(change.target.user)
        _set_role(change.target, role, change.actor.user, origin)


def remove(actor: Member, target: Member, *, origin: Origin = NO_CLIENT) -> None:
    """Remove a member. Raise PermissionNeeded, MemberChanged or LastOwner."""
    with transaction.atomic():
        change = _lock(actor, target)
        _require(change.actor, _find_permission(change.target.role, change.target.role))
        _delete(change.target, "member.remove", change.actor.user, origin)


def leave(member: Member, *, origin: Origin = NO_CLIENT) -> None:
    """Remove oneself. Raise MemberChanged or LastOwner."""
    with transaction.atomic():
        change = _lock(member, member)
        _delete(change.target, "member.leave", change.actor.user, origin)


def transfer(actor: Member, target: Member, *, origin: Origin = NO_CLIENT) -> None:
    """Make a member owner, and the owner who does so admin.

    Raise PermissionNeeded, MemberChanged or account_limits.LimitReached.
    """
    with transaction.atomic():
        change = _lock(actor, target)
        _require(change.actor, Permission.MANAGE_OWNERS)
        if change.actor.pk == change.target.pk:
            raise MemberChanged(_("You own this project already."))
        if change.target.role != Role.OWNER:
            account_limits.require_project(change.target.user)
            _set_role(change.target, Role.OWNER, change.actor.user, origin)
        _set_role(change.actor, Role.ADMIN, change.actor.user, origin)
        audit.record(
            change.actor.project,
            "project.transfer",
            actor=change.actor.user,
            origin=origin,
            target=change.target.user.email,
        )


def _find_permission(before: str, role: str) -> Permission:
    is_about_owner = Role.OWNER in (before, role)
    return Permission.MANAGE_OWNERS if is_about_owner else Permission.MANAGE_PEOPLE


def _require(actor: Member, permission: Permission) -> None:
    if not has_permission(actor.role, permission):
        raise PermissionNeeded(permission)


def _lock(actor: Member, target: Member) -> _Change:
    """Lock the project and read both memberships. Raise MemberChanged if one has ended."""
    account_limits.lock_project(actor.project)
    rows = Member.objects.filter(project=actor.project_id).select_related("user", "project")
    by_key = rows.in_bulk([actor.pk, target.pk])
    if len(by_key) < len({actor.pk, target.pk}):
        raise MemberChanged(_("This person is no longer a member of the project."))
    return _Change(by_key[actor.pk], by_key[target.pk])


def _require_other_owner(member: Member) -> None:
    if is_last_owner(member):
        raise LastOwner(member.project)


def _set_role(member: Member, role: Role, actor: User, origin: Origin) -> None:
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    audit.record(
        member.project,
        "member.role",
        actor=actor,
        origin=origin,
        target=member.user.email,
        role=str(role),
        before=str(before),
    )
    _end_invitations(member, actor, origin)


def _delete(member: Member, action: str, actor: User, origin: Origin) -> None:
    _require_other_owner(member)
    audit.record(
        member.project,
        action,
        actor=actor,
        origin=origin,
        target=member.user.email,
        role=str(member.role),
    )
    invitations.revoke_all_by_inviter(member.user, member.project, actor=actor, origin=origin)
    member.delete()


def _end_invitations(member: Member, actor: User, origin: Origin) -> None:
    """Revoke the invitations of a member who may not invite any longer."""
    if not has_permission(member.role, Permission.MANAGE_PEOPLE):
        invitations.revoke_all_by_inviter(member.user, member.project, actor=actor, origin=origin)
