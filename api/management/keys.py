"""`keys`: API keys of a project."""

from datetime import datetime

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
from endpoints.json_message import Message, read_text, read_time
from projects.credentials import keys
from projects.credentials.allowed_services import clean_services
from projects.models import ApiKey
from projects.models.api_key import MAX_ALLOWED_SERVICES, SERVICE_NAME
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
        services=_read_services(call.body),
        expires=_read_expiry(call),
        actor=call.user,
        origin=call.origin,
    )
    return Created({**_document(row), "key": text})


def _read_services(body: Message) -> list[str]:
    try:
        return clean_services(read_list(body, "services", MAX_ALLOWED_SERVICES))
    except ValidationError as error:
        raise BadField("services", error.messages[0]) from None


def _read_expiry(call: ProjectCall) -> datetime | None:
    expires = read_time(call.body, "expires", "expires")
    if expires is not None and expires <= call.now:
        raise BadField("expires", "must be in the future")
    return expires


def _rotate(call: ProjectCall) -> Created[NewKeyDocument]:
    row, text = keys.rotate(_find(call), actor=call.user, origin=call.origin)
    return Created({**_document(row), "key": text})


def _find(call: ProjectCall) -> ApiKey:
    key_id = call.arguments["key"].removeprefix(keys.KEY_PREFIX)
    rows = ApiKey.objects.filter(project=call.project, key_id=key_id, revoked=None)
    row = rows.select_related("project").first()
    if row is None:
        raise NotFound("No such key in this project, or it is already revoked.")
    return row


def _revoke(call: ProjectCall) -> None:
    keys.revoke(_find(call), actor=call.user, origin=call.origin)


def _document(row: ApiKey) -> KeyDocument:
    scopes = {"write": row.may_write, "read": row.may_read}
    return {
        "id": row.prefix,
        "name": row.name,
        "scopes": [name for name, is_set in scopes.items() if is_set],
        "default_service": row.default_service,
        "services": row.services,
        "created": row.created,
        "expires": row.expires,
        "replaced_by": row.replaced_by.prefix if row.replaced_by else None,
        "last_used": row.last_used,
        "last_used_from": row.last_used_from,
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
                    BodyField(
                        "services",
                        "Services that the key may use, * for any text; none: all",
                        {
                            "type": "array",
                            "items": {"type": "string"},
                            "maxItems": MAX_ALLOWED_SERVICES,
                        },
                    ),
                    BodyField(
                        "expires",
                        "Time (RFC 3339); default: never",
                        {"type": "string", "format": "date-time"},
                    ),
                ),
                permission=Permission.MANAGE_KEYS,
            ),
        },
    ),
    ProjectResource(
        "/keys/<str:key>/rotate",
        {
            "POST": ProjectAction(
                "Create a key in place of another one, which expires after the overlap",
                _rotate,
                permission=Permission.MANAGE_KEYS,
            )
        },
    ),
    ProjectResource(
        "/keys/<str:key>",
        {"DELETE": ProjectAction("Revoke an API key", _revoke, permission=Permission.MANAGE_KEYS)},
    ),
)
