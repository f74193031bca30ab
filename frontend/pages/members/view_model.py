"""View model of the members page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from projects import invitations, members
from projects.access import may_manage_owners, may_manage_people
from projects.credentials import invitation_tokens
from projects.models import Invitation, InvitationState, Member, Role
from projects.permissions import ROLES, role_table


@dataclass(frozen=True, slots=True)
class MemberRow:
    member: Member
    is_self: bool
    is_only_owner: bool
    roles: tuple[Role, ...]  # that can be chosen; none: the role is a text
    may_remove: bool
    may_transfer: bool


@dataclass(frozen=True, slots=True)
class InvitationRow:
    invitation: Invitation
    is_expired: bool


@dataclass(frozen=True, slots=True)
class NewLink:
    """Link that is shown only once."""

    email: str  # "" for a link without addressee
    role: str
    url: str
    expires: datetime


def members_context(member: Member, new_links: Sequence[Invitation] = ()) -> dict[str, object]:
    may_invite = may_manage_people(member)
    rows = _member_rows(member)
    open_rows = _invitation_rows(member) if may_invite else []
    return {
        "project": member.project,
        "here": "settings",
        "member": member,
        "rows": rows,
        "may_invite": may_invite,
        "invitations": open_rows,
        "pending": sum(not row.is_expired for row in open_rows),
        "expired": sum(row.is_expired for row in open_rows),
        "roles": ROLES,
        "role_table": role_table(),
        "new_links": [_new_link(row) for row in new_links],
    }


def _member_rows(viewer: Member) -> list[MemberRow]:
    everyone = members.list_members(viewer.project)
    owners = sum(each.role == Role.OWNER for each in everyone)
    rows = []
    for each in everyone:
        is_only_owner = owners == 1 and each.role == Role.OWNER
        is_self = each.pk == viewer.pk
        roles = members.assignable_roles(viewer, each)
        rows.append(
            MemberRow(
                member=each,
                is_self=is_self,
                is_only_owner=is_only_owner,
                roles=() if is_only_owner else roles,
                may_remove=bool(roles) and not is_self and not is_only_owner,
                may_transfer=may_manage_owners(viewer) and not is_self,
            )
        )
    return rows


def _invitation_rows(member: Member) -> list[InvitationRow]:
    now = timezone.now()
    return [
        InvitationRow(row, row.get_state(now) is InvitationState.EXPIRED)
        for row in invitations.list_open(member.project)
    ]


def _new_link(row: Invitation) -> NewLink:
    url = invitation_tokens.get_url(row)
    return NewLink(row.email, row.get_role_display(), url, row.expires)
