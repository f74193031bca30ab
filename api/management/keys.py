"""`keys`: API keys of a project."""

from django.core.exceptions import ValidationError

from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_list,
    require_text,
)
from api.management.documents import KeyDocument, KeyList, NewKeyDocument
from endpoints.errors import BadField, NotFound
from endpoints.json_message import read_text
from projects.credentials import keys
from projects.models import ApiKey
from projects.models.api_key import SERVICE_NAME
from projects.permissions import Permission

_SCOPES = ("write", "read")


def _list(call: ProjectCall) -> KeyList:
    return {"rows": [_document(row) for row in keys.list_keys(call.project)]}


def _create(call: ProjectCall) -> Created[NewKeyDocument]:
    scopes = read_list(call.body, "scopes", len(_SCOPES)) or ["write"]
    for scope in scopes:
        if scope not in _SCOPES:
            raise BadField("scopes", f"must be some of {', '.join(_SCOPES)}")
    default_service = read_text(call.body, "default_service", "default_service")
    if default_service:
        try:
            SERVICE_NAME(default_service)
        except ValidationError as error:
            raise BadField("default_service", error.messages[0]) from None
    row, text = keys.create(
        call.project,
        require_text(call.body, "name", 100),
        write="write" in scopes,
        read="read" in scopes,
        default_service=default_service,
        actor=call.user,
        origin=call.origin,
    )
    return Created({**_document(row), "key": text})


def _revoke(call: ProjectCall) -> None:
    key_id = call.arguments["key"].removeprefix(keys.KEY_PREFIX)
    rows = ApiKey.objects.filter(project=call.project, key_id=key_id, revoked=None)
    row = rows.select_related("project").first()
    if row is None:
        raise NotFound("No such key in this project, or it is already revoked.")
    keys.revoke(row, actor=call.user, origin=call.origin)


def _document(row: ApiKey) -> KeyDocument:
    scopes = {"write": row.may_write, "read": row.may_read}
    return {
        "id": row.prefix,
        "name": row.name,
        "scopes": [name for name, is_set in scopes.items() if is_set],
        "default_service": row.default_service,
        "created": row.created,
        "last_used": row.last_used,
        "revoked": row.revoked,
    }


RESOURCES = (
    ProjectResource(
        "/keys",
        {
            "GET": ProjectAction("List the API keys", _list, permission=Permission.MANAGE_KEYS),
            "POST": ProjectAction(
                "Create an API key; its text is shown in this response only",
                _create,
                fields=(
                    BodyField("name", "Name", is_required=True),
                    BodyField(
                        "scopes",
                        "Default: write",
                        {"type": "array", "items": {"type": "string", "enum": [*_SCOPES]}},
                    ),
                    BodyField("default_service", "Service of profiles that name none"),
                ),
                permission=Permission.MANAGE_KEYS,
            ),
        },
    ),
    ProjectResource(
        "/keys/<str:key>",
        {"DELETE": ProjectAction("Revoke an API key", _revoke, permission=Permission.MANAGE_KEYS)},
    ),
)
