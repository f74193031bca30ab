"""`webhooks`: addresses that are told the events of a project."""

from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_flag,
    read_list,
    require_text,
)
from api.management.documents import (
    DeliveryDocument,
    DeliveryList,
    NewWebhookDocument,
    WebhookDocument,
    WebhookList,
)
from endpoints.errors import BadField, NotFound
from endpoints.json_message import read_text
from projects.models import Webhook, WebhookDelivery, WebhookFormat
from projects.permissions import Permission
from projects.subscriptions import WEBHOOK_KINDS
from projects.webhooks import settings as webhooks
from projects.webhooks.addresses import MAX_URL
from projects.webhooks.settings import InvalidWebhook
from projects.webhooks.signature import get_secret

_DELIVERIES = 30  # rows


def _list(call: ProjectCall) -> WebhookList:
    rows = Webhook.objects.filter(project=call.project).select_related("created_by")
    return {"rows": [_document(row) for row in rows.order_by("name")]}


def _create(call: ProjectCall) -> Created[NewWebhookDocument]:
    try:
        row = webhooks.create_webhook(
            call.project,
            name=require_text(call.body, "name", webhooks.MAX_NAME),
            url=require_text(call.body, "url", MAX_URL),
            form=read_text(call.body, "format", "format") or WebhookFormat.GENERIC,
            kinds=read_list(call.body, "kinds", len(WEBHOOK_KINDS)),
            actor=call.user,
            origin=call.origin,
        )
    except InvalidWebhook as error:
        raise BadField(error.field, str(error)) from None
    return Created(_new_document(row))


def _change(call: ProjectCall) -> WebhookDocument:
    row = _find(call)
    is_enabled = read_flag(call.body, "enabled")
    if is_enabled is None:
        raise BadField("enabled", "is missing")
    webhooks.set_enabled(row, is_enabled=is_enabled, actor=call.user, origin=call.origin)
    return _document(_find(call))


def _delete(call: ProjectCall) -> None:
    webhooks.delete_webhook(_find(call), actor=call.user, origin=call.origin)


def _rotate(call: ProjectCall) -> Created[NewWebhookDocument]:
    row = _find(call)
    webhooks.rotate_secret(row, actor=call.user, origin=call.origin)
    return Created(_new_document(row))


def _test(call: ProjectCall) -> None:
    webhooks.add_test(_find(call))


def _list_deliveries(call: ProjectCall) -> DeliveryList:
    rows = WebhookDelivery.objects.filter(webhook=_find(call)).order_by("-created", "-pk")
    return {"rows": [_delivery_document(row) for row in rows[:_DELIVERIES]]}


def _find(call: ProjectCall) -> Webhook:
    rows = Webhook.objects.filter(project=call.project, webhook_id=call.arguments["webhook"])
    row = rows.select_related("project", "created_by").first()
    if row is None:
        raise NotFound("No such webhook in this project.")
    return row


def _document(row: Webhook) -> WebhookDocument:
    return {
        "id": row.webhook_id,
        "name": row.name,
        "url": row.url,
        "format": row.format,
        "kinds": row.kinds or [str(kind) for kind in WEBHOOK_KINDS],
        "enabled": row.disabled is None,
        "failing_since": row.failing_since,
        "created": row.created,
        "created_by": row.created_by.email if row.created_by else None,
    }


def _new_document(row: Webhook) -> NewWebhookDocument:
    return {**_document(row), "secret": get_secret(row)}


def _delivery_document(row: WebhookDelivery) -> DeliveryDocument:
    return {
        "id": f"msg_{row.message_id.hex}",
        "event": row.event,
        "kind": row.kind,
        "created": row.created,
        "attempts": row.attempts,
        "next_attempt": row.next_attempt,
        "delivered": row.delivered,
        "status": row.status,
        "reply": row.reply,
        "problem": row.problem,
    }


_PERMISSION = Permission.CHANGE_SETTINGS
RESOURCES = (
    ProjectResource(
        "/webhooks",
        {
            "GET": ProjectAction("List the webhooks", _list, permission=_PERMISSION),
            "POST": ProjectAction(
                "Create a webhook; its secret is shown in this response only",
                _create,
                fields=(
                    BodyField("name", "Name", is_required=True),
                    BodyField("url", "Address, https", is_required=True),
                    BodyField(
                        "format",
                        "Body of the messages",
                        {"type": "string", "enum": [*WebhookFormat.values]},
                    ),
                    BodyField(
                        "kinds",
                        "Kinds of events; absent: all",
                        {
                            "type": "array",
                            "items": {
                                "type": "string",
                                "enum": [str(kind) for kind in WEBHOOK_KINDS],
                            },
                        },
                    ),
                ),
                permission=_PERMISSION,
            ),
        },
    ),
    ProjectResource(
        "/webhooks/<str:webhook>",
        {
            "PATCH": ProjectAction(
                "Switch a webhook on or off",
                _change,
                fields=(
                    BodyField(
                        "enabled",
                        "False: it is told nothing",
                        {"type": "boolean"},
                        is_required=True,
                    ),
                ),
                permission=_PERMISSION,
            ),
            "DELETE": ProjectAction("Delete a webhook", _delete, permission=_PERMISSION),
        },
    ),
    ProjectResource(
        "/webhooks/<str:webhook>/rotate",
        {
            "POST": ProjectAction(
                "Make a new secret; the one before signs, too, for a day",
                _rotate,
                permission=_PERMISSION,
            )
        },
    ),
    ProjectResource(
        "/webhooks/<str:webhook>/test",
        {
            "POST": ProjectAction(
                "Send a test message within a minute", _test, permission=_PERMISSION
            )
        },
    ),
    ProjectResource(
        "/webhooks/<str:webhook>/deliveries",
        {
            "GET": ProjectAction(
                "List the latest messages, the newest first",
                _list_deliveries,
                permission=_PERMISSION,
            )
        },
    ),
)
