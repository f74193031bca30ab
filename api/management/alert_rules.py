"""`alert-rules`: alert rules of a project, with their states and incidents."""

from dataclasses import replace

from django.db.models import Prefetch, QuerySet

from alerts import rules
from alerts.conditions.registry import ConditionKind
from alerts.models import MAX_FUNCTION, MAX_NAME, AlertIncident, AlertRule
from alerts.rules import Editor, InvalidRule, RuleFields
from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_choice,
    read_flag,
    read_list,
)
from api.management.documents import AlertIncidentDocument, AlertRuleDocument, AlertRuleList
from endpoints.errors import BadField, NotFound
from endpoints.json_message import Message, read_text
from projects.permissions import Permission
from projects.profile_types import ProfileType
from projects.webhooks.settings import MAX_WEBHOOKS

_KINDS = tuple(kind.value for kind in ConditionKind)
_LATEST = "latest_incidents"  # attribute of a rule
_MAX_INCIDENTS = 20  # of a rule in its document, the latest ones


def _list(call: ProjectCall) -> AlertRuleList:
    return {"rows": [_build_document(row) for row in _with_incidents(call)]}


def _with_incidents(call: ProjectCall) -> QuerySet[AlertRule]:
    latest = AlertIncident.objects.order_by("-started", "-pk")[:_MAX_INCIDENTS]
    rows = rules.find_rules(call.project)
    return rows.prefetch_related("states", Prefetch("incidents", latest, _LATEST))


def _create(call: ProjectCall) -> Created[AlertRuleDocument]:
    kind = ConditionKind(read_choice(call.body, "kind", _KINDS))
    fields = _read_fields(call.body, RuleFields("", kind, {}))
    is_enabled = read_flag(call.body, "enabled")
    try:
        rule = rules.create_rule(call.project, fields, editor=_get_editor(call))
    except InvalidRule as error:
        raise BadField(error.field, str(error)) from None
    if is_enabled is False:
        rules.set_enabled(rule, False, editor=_get_editor(call))
    return Created(_build_document(_find(call, rule.rule_id)))


def _get(call: ProjectCall) -> AlertRuleDocument:
    return _build_document(_find(call, call.arguments["rule"]))


def _change(call: ProjectCall) -> AlertRuleDocument:
    rule = _find(call, call.arguments["rule"])
    before = RuleFields(
        rule.name,
        ConditionKind(rule.kind),
        rule.parameters,
        rule.service,
        rule.type,
        rule.function,
        rule.sends_mail,
        rule.tells_subscribed_webhooks,
        tuple(rule.named_webhooks),
    )
    fields, is_enabled = _read_fields(call.body, before), read_flag(call.body, "enabled")
    if fields != before:
        try:
            rule = rules.change_rule(rule, fields, editor=_get_editor(call))
        except InvalidRule as error:
            raise BadField(error.field, str(error)) from None
    if is_enabled is not None:
        rules.set_enabled(rule, is_enabled, editor=_get_editor(call))
    return _build_document(_find(call, rule.rule_id))


def _delete(call: ProjectCall) -> None:
    rules.delete_rule(_find(call, call.arguments["rule"]), editor=_get_editor(call))


def _find(call: ProjectCall, rule_id: str) -> AlertRule:
    rule = _with_incidents(call).filter(rule_id=rule_id).first()
    if rule is None:
        raise NotFound("No such alert rule in this project.")
    return rule


def _get_editor(call: ProjectCall) -> Editor:
    return Editor(call.user, origin=call.origin)


def _read_fields(body: Message, default: RuleFields) -> RuleFields:
    """Return the fields of the body, and those of `default` where it has none. Raise BadField."""
    parameters = body.get("parameters", default.parameters)
    if not isinstance(parameters, dict) and "parameters" in body:
        raise BadField("parameters", "must be an object")
    return RuleFields(
        name=_read(body, "name", default.name),
        kind=default.kind,
        parameters=parameters,
        service=_read(body, "service", default.service),
        type=_read(body, "type", default.type),
        function=_read(body, "function", default.function),
        sends_mail=_read_flag(body, "email", default.sends_mail),
        tells_subscribed_webhooks=_read_flag(
            body, "subscribed_webhooks", default.tells_subscribed_webhooks
        ),
        named_webhooks=(
            tuple(read_list(body, "webhooks", MAX_WEBHOOKS))
            if "webhooks" in body
            else default.named_webhooks
        ),
    )


def _read_flag(body: Message, name: str, default: bool) -> bool:
    value = read_flag(body, name)
    return default if value is None else value


def _read(body: Message, name: str, default: str) -> str:
    return read_text(body, name, name) if name in body else default


def _build_document(rule: AlertRule) -> AlertRuleDocument:
    """Return the document of a rule of `_with_incidents`."""
    incidents: list[AlertIncident] = vars(rule)[_LATEST]
    states = {row.phase for row in rule.states.all()}
    phase = next((each for each in ("firing", "pending") if each in states), "ok")
    return {
        "id": rule.rule_id,
        "name": rule.name,
        "kind": rule.kind,
        "parameters": rule.parameters,
        "service": rule.service,
        "type": rule.type,
        "function": rule.function,
        "enabled": rule.is_enabled,
        "email": rule.sends_mail,
        "subscribed_webhooks": rule.tells_subscribed_webhooks,
        "webhooks": rule.named_webhooks,
        "state": phase,
        "problem": rule.problem,
        "created": rule.created,
        "created_by": rule.created_by.email if rule.created_by else None,
        "evaluated": rule.evaluated,
        "incidents": [_build_incident(row) for row in incidents],
    }


def _build_incident(row: AlertIncident) -> AlertIncidentDocument:
    return {
        "id": row.incident_id,
        "subject": row.subject,
        "service": row.service,
        "started": row.started,
        "ended": row.ended,
        "value": row.value,
        "latest_value": row.last_value,
        "extreme_value": row.extreme,
    }


_FIELDS = (
    BodyField("name", f"Name, {MAX_NAME} characters or less"),
    BodyField(
        "parameters",
        "Parameters of the kind, see the guide about alerts",
        {"type": "object", "additionalProperties": True},
    ),
    BodyField("service", "Service; empty for all, where the kind allows it"),
    BodyField("type", f"Profile type of a rule on values: {', '.join(ProfileType)}"),
    BodyField(
        "function", f"Full name, {MAX_FUNCTION} characters or less; empty: the whole service"
    ),
    BodyField("enabled", "False: the rule is paused", {"type": "boolean"}),
    BodyField("email", "Members who want alerts get its e-mails (true)", {"type": "boolean"}),
    BodyField(
        "subscribed_webhooks",
        "Webhooks that want alerts get its messages (true)",
        {"type": "boolean"},
    ),
    BodyField(
        "webhooks",
        "Ids of webhooks that get its messages whatever they want",
        {"type": "array", "items": {"type": "string"}, "maxItems": MAX_WEBHOOKS},
    ),
)
RESOURCES = (
    ProjectResource(
        "/alert-rules",
        {
            "GET": ProjectAction("List the alert rules with their latest incidents", _list),
            "POST": ProjectAction(
                "Create an alert rule",
                _create,
                fields=(
                    BodyField("kind", "Kind", {"type": "string", "enum": [*_KINDS]}, True),
                    *(
                        replace(each, is_required=each.name in {"name", "parameters"})
                        for each in _FIELDS
                    ),
                ),
                permission=Permission.CREATE_ALERTS,
            ),
        },
    ),
    ProjectResource(
        "/alert-rules/<str:rule>",
        {
            "GET": ProjectAction("Get an alert rule with its latest incidents", _get),
            "PATCH": ProjectAction(
                "Change, pause or resume an alert rule",
                _change,
                fields=_FIELDS,
                permission=Permission.CREATE_ALERTS,
            ),
            "DELETE": ProjectAction(
                "Delete an alert rule with its incidents",
                _delete,
                permission=Permission.CREATE_ALERTS,
            ),
        },
    ),
)
