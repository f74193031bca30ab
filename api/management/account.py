"""`user`, `tokens` and `projects`: the person of the token."""

from api.management.call import (
    AccountAction,
    AccountCall,
    AccountResource,
    BodyField,
    Created,
    require_text,
)
from api.management.documents import (
    ProjectDocument,
    ProjectList,
    TokenDocument,
    TokenList,
    UserDocument,
)
from api.management.projects import project_document
from endpoints.errors import NotFound
from projects import project_ids
from projects.credentials import access_tokens
from projects.models import AccessToken, Member, Role, TokenScope


def _show_user(call: AccountCall) -> UserDocument:
    return {
        "email": call.user.email,
        "name": call.user.get_full_name(),
        "token": {"id": call.holder.prefix, "scopes": sorted(call.holder.scopes)},
    }


def _list_projects(call: AccountCall) -> ProjectList:
    rows = [project_document(member) for member in call.user.sorted_memberships]
    return {"rows": rows}


def _create_project(call: AccountCall) -> Created[ProjectDocument]:
    name = require_text(call.body, "name", 100)
    project = project_ids.create_project(name, call.user, origin=call.origin)
    return Created(project_document(Member(project=project, user=call.user, role=Role.OWNER)))


def _list_tokens(call: AccountCall) -> TokenList:
    return {"rows": [_token_document(row) for row in access_tokens.list_tokens(call.user)]}


def _revoke_token(call: AccountCall) -> None:
    token_id = call.arguments["token"].removeprefix(access_tokens.TOKEN_PREFIX)
    row = AccessToken.objects.filter(user=call.user, token_id=token_id, revoked=None).first()
    if row is None:
        raise NotFound("You have no such token, or it is already revoked.")
    access_tokens.revoke(row, origin=call.origin)


def _token_document(row: AccessToken) -> TokenDocument:
    return {
        "id": row.prefix,
        "name": row.name,
        "scopes": row.scopes,
        "created": row.created,
        "expires": row.expires,
        "last_used": row.last_used,
    }


RESOURCES = (
    AccountResource("user", {"GET": AccountAction("Show the account of the token", _show_user)}),
    AccountResource(
        "tokens",
        {"GET": AccountAction("List the personal access tokens of the account", _list_tokens)},
    ),
    AccountResource(
        "tokens/<str:token>",
        {
            "DELETE": AccountAction(
                "Revoke a personal access token", _revoke_token, scope=TokenScope.MANAGE
            )
        },
    ),
    AccountResource(
        "projects",
        {
            "GET": AccountAction("List the projects of the account", _list_projects),
            "POST": AccountAction(
                "Create a project",
                _create_project,
                fields=(BodyField("name", "Display name", is_required=True),),
                scope=TokenScope.MANAGE,
            ),
        },
    ),
)
