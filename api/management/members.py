"""`members` and `invitations` of a project."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_choice,
    read_list,
)
from api.management.documents import (
    InvitationDocument,
    InvitationList,
    MemberDocument,
    MemberList,
    NewInvitationDocument,
    NewInvitationList,
)
from endpoints.errors import BadField, NotFound
from projects import invitations, members
from projects.credentials import invitation_tokens
from projects.models import Invitation, Member, Role
from projects.permissions import ROLES, Permission

_ROLES = tuple(str(role) for role in ROLES)
_INVITED_ROLES = tuple(str(role) for role in ROLES if role is not Role.OWNER)


def _list_members(call: ProjectCall) -> MemberList:
    return {"rows": [_member_document(row) for row in members.list_members(call.project)]}


def _change_role(call: ProjectCall) -> MemberDocument:
    target = _find_member(call)
    role = Role(read_choice(call.body, "role", _ROLES))
    members.change_role(call.member, target, role, origin=call.origin)
    target.refresh_from_db()
    return _member_document(target)


def _remove_member(call: ProjectCall) -> None:
    target = _find_member(call)
    if target.pk == call.member.pk:
        members.leave(call.member, origin=call.origin)
    else:
        members.remove(call.member, target, origin=call.origin)


def _find_member(call: ProjectCall) -> Member:
    rows = Member.objects.filter(project=call.project, pk=call.arguments["member"])
    row = rows.select_related("user", "project").first()
    if row is None:
        raise NotFound("No such member of this project.")
    return row


def _member_document(row: Member) -> MemberDocument:
    return {
        "id": row.pk,
        "email": row.user.email,
        "name": row.user.get_full_name(),
        "role": str(row.role),
        "since": row.since,
    }


def _list_invitations(call: ProjectCall) -> InvitationList:
    rows = invitations.list_open(call.project)
    return {"rows": [_invitation_document(row) for row in rows]}


def _invite(call: ProjectCall) -> Created[NewInvitationList]:
    emails = [each.strip().lower() for each in read_list(call.body, "emails", _MAX_ADDRESSES)]
    for email in emails:
        try:
            validate_email(email)
        except ValidationError:
            raise BadField("emails", f"{email[:100]!r} is not an e-mail address") from None
    role = Role(read_choice(call.body, "role", _INVITED_ROLES))
    made = invitations.create(
        call.project, list(dict.fromkeys(emails)), role, actor=call.user, origin=call.origin
    )
    return Created({"rows": [_new_invitation_document(row) for row in made]})


def _revoke_invitation(call: ProjectCall) -> None:
    rows = Invitation.objects.filter(project=call.project, used=None, revoked=None)
    row = rows.filter(pk=call.arguments["invitation"]).select_related("project").first()
    if row is None:
        raise NotFound("No such open invitation of this project.")
    invitations.revoke(row, actor=call.user, origin=call.origin)


def _invitation_document(row: Invitation) -> InvitationDocument:
    return {
        "id": row.pk,
        "email": row.email,
        "role": str(row.role),
        "created": row.created,
        "expires": row.expires,
        "mail": str(row.mail_state) or None,
    }


def _new_invitation_document(row: Invitation) -> NewInvitationDocument:
    """Return the document with the link, which is shown once, unless it is sent by e-mail."""
    link = None if row.is_mailed else invitation_tokens.get_url(row)
    return {**_invitation_document(row), "link": link}


_MAX_ADDRESSES = invitations.MAX_ADDRESSES
RESOURCES = (
    ProjectResource("/members", {"GET": ProjectAction("List the members", _list_members)}),
    ProjectResource(
        "/members/<int:member>",
        {
            "PATCH": ProjectAction(
                "Change the role of a member",
                _change_role,
                fields=(
                    BodyField("role", "New role", {"type": "string", "enum": [*_ROLES]}, True),
                ),
                permission=Permission.MANAGE_PEOPLE,
            ),
            # Everybody may leave; members.remove checks the permission for others.
            "DELETE": ProjectAction("Remove a member, or leave the project", _remove_member),
        },
    ),
    ProjectResource(
        "/invitations",
        {
            "GET": ProjectAction(
                "List the open invitations", _list_invitations, permission=Permission.MANAGE_PEOPLE
            ),
            "POST": ProjectAction(
                "Invite people",
                _invite,
                fields=(
                    BodyField(
                        "emails",
                        "Addresses to invite; without any, one link for whoever gets it",
                        {
                            "type": "array",
                            "items": {"type": "string", "format": "email"},
                            "maxItems": _MAX_ADDRESSES,
                        },
                    ),
                    BodyField(
                        "role",
                        "Role of the invited",
                        {"type": "string", "enum": [*_INVITED_ROLES]},
                        is_required=True,
                    ),
                ),
                permission=Permission.MANAGE_PEOPLE,
            ),
        },
    ),
    ProjectResource(
        "/invitations/<int:invitation>",
        {
            "DELETE": ProjectAction(
                "Revoke an invitation", _revoke_invitation, permission=Permission.MANAGE_PEOPLE
            )
        },
    ),
)
