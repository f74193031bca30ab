"""Create, change, pause and delete alert rules, with the audit log."""

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from alerts.conditions.observation import InvalidParameters
from alerts.conditions.points import Measure
from alerts.conditions.registry import ConditionKind, list_parameters, parse_condition
from alerts.firing_alerts import forget_count
from alerts.models import MAX_FUNCTION, MAX_NAME, AlertIncident, AlertRule, AlertState
from profiles.query import BadFilterPattern, is_expression, matcher
from projects import audit
from projects.account_limits import LimitReached
from projects.credentials.allowed_services import ALL_SERVICES, AllowedServices
from projects.models import Project, User, Webhook
from projects.profile_types import INSTANTANEOUS, ProfileType

MAX_RULES = 100  # of a project; each is evaluated once a minute
SERIES_KINDS = frozenset({ConditionKind.VALUE, ConditionKind.AGAINST_LAST_WEEK})
_MAX_SERVICE = 255
_NO_TIME = frozenset(INSTANTANEOUS | {ProfileType.HEAP_ALLOC})  # types that measure no time


class InvalidRule(ValueError):
    """Fields of a rule that do not fit; `field` names the wrong one, or the parameter."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


@dataclass(frozen=True, slots=True)
class RuleFields:
    """Fields of a rule that people choose; see AlertRule."""

    name: str
    kind: ConditionKind
    parameters: Mapping[str, object]
    service: str = ""
    type: str = ""
    function: str = ""
    sends_mail: bool = True
    tells_subscribed_webhooks: bool = True
    named_webhooks: tuple[str, ...] = ()  # ids

    def require_valid(self) -> dict[str, object]:
        """Return the parameters as they are stored. Raise InvalidRule."""
        if not self.name.strip() or len(self.name) > MAX_NAME:
            raise InvalidRule(
                "name", _("Enter a name of %(n)d characters or less.") % {"n": MAX_NAME}
            )
        if len(self.service) > _MAX_SERVICE:
            raise InvalidRule("service", _("This name is too long."))
        if len(self.function) > MAX_FUNCTION:
            raise InvalidRule("function", _("This name is too long."))
        try:
            condition = parse_condition(self.kind, self.parameters)
        except InvalidParameters as error:
            raise InvalidRule(error.parameter, str(error)) from None
        if self.kind in SERIES_KINDS:
            self._require_series(Measure(str(self.parameters["measure"])))
        elif self.type or self.function:
            raise InvalidRule("type", _("This kind of rule has no profile type or function."))
        if self.kind is ConditionKind.QUOTA and self.service:
            raise InvalidRule("service", _("Quotas are those of the project, not of a service."))
        return list_parameters(condition)

    def _require_series(self, measure: Measure) -> None:
        if not self.service:
            raise InvalidRule("service", _("Choose a service."))
        if self.type not in set(ProfileType):
            raise InvalidRule("type", _("Choose a profile type."))
        if is_expression(self.function):
            try:
                matcher(self.function)
            except BadFilterPattern as error:
                raise InvalidRule("function", str(error)) from None
        if measure is Measure.SHARE and not self.function:
            raise InvalidRule("function", _("Name the function whose share it is."))
        if measure is Measure.CORES and self.type in _NO_TIME:
            raise InvalidRule("measure", _("This profile type measures no time: it has no cores."))


@dataclass(frozen=True, slots=True)
class Editor:
    """Person or API key that changes rules."""

    user: User | None = None
    key: str = ""
    origin: audit.Origin = audit.NO_CLIENT

    def record(self, rule: AlertRule, action: str, **detail: Any) -> None:
        audit.record(
            rule.project,
            action,
            actor=self.user,
            actor_key=self.key,
            origin=self.origin,
            target=rule.name,
            rule=rule.rule_id,
            **detail,
        )


def find_rules(project: Project, allowed: AllowedServices = ALL_SERVICES) -> QuerySet[AlertRule]:
    """Return the rules by name; those of all services need a client that may read all."""
    rows = AlertRule.objects.filter(project=project)
    if allowed.names:
        rows = rows.filter(allowed.condition("service"))
    return rows.select_related("created_by").order_by("name", "pk")


def find_rule(
    project: Project, rule_id: str, allowed: AllowedServices = ALL_SERVICES
) -> AlertRule | None:
    return find_rules(project, allowed).filter(rule_id=rule_id).first()


def create_rule(project: Project, fields: RuleFields, *, editor: Editor) -> AlertRule:
    """Raise InvalidRule, and LimitReached for a project with MAX_RULES rules."""
    parameters = fields.require_valid()
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        _require_webhooks(project, fields.named_webhooks)
        if AlertRule.objects.filter(project=project).count() >= MAX_RULES:
            raise LimitReached(
                _("A project has %(n)d alert rules at most. Delete one.") % {"n": MAX_RULES}
            )
        rule = AlertRule(project=project, created_by=editor.user, changed=timezone.now())
        _assign(rule, fields, parameters)
        rule.save(force_insert=True)
        editor.record(rule, "alert_rule.create", **_describe(rule), **_describe_recipients(rule))
    return rule


def change_rule(rule: AlertRule, fields: RuleFields, *, editor: Editor) -> AlertRule:
    """Change a rule; with another condition it starts anew. Raise InvalidRule."""
    parameters = fields.require_valid()
    with _lock(rule) as row:
        # One that was deleted since stays chosen.
        new = set(fields.named_webhooks) - set(row.named_webhooks)
        _require_webhooks(row.project, new)
        condition, recipients, name = _describe(row), _describe_recipients(row), row.name
        _assign(row, fields, parameters)
        before, after = condition | recipients, _describe(row) | _describe_recipients(row)
        if before != after or row.name != name:
            editor.record(row, "alert_rule.change", before=before, after=after)
        if _describe(row) != condition:
            _restart(row)
    return row


def set_enabled(rule: AlertRule, is_enabled: bool, *, editor: Editor) -> None:
    """Pause a rule, which ends its incidents without a message, or resume it."""
    with _lock(rule) as row:
        if row.is_enabled == is_enabled:
            return
        row.is_enabled = is_enabled
        _restart(row)
        editor.record(row, "alert_rule.resume" if is_enabled else "alert_rule.pause")


def delete_rule(rule: AlertRule, *, editor: Editor) -> None:
    with transaction.atomic():
        if AlertRule.objects.filter(pk=rule.pk).delete()[0]:
            forget_count(rule.project_id)
            editor.record(rule, "alert_rule.delete", **_describe(rule))


@contextmanager
def _lock(rule: AlertRule) -> Generator[AlertRule, None, None]:
    """Yield the locked row, and save it."""
    with transaction.atomic():
        row = AlertRule.objects.select_for_update(no_key=True).get(pk=rule.pk)
        yield row
        row.save()


def _assign(rule: AlertRule, fields: RuleFields, parameters: dict[str, object]) -> None:
    rule.name, rule.kind, rule.parameters = fields.name.strip(), fields.kind.value, parameters
    rule.service, rule.type, rule.function = fields.service, fields.type, fields.function
    rule.sends_mail = fields.sends_mail
    rule.tells_subscribed_webhooks = fields.tells_subscribed_webhooks
    rule.named_webhooks = list(fields.named_webhooks)


def _require_webhooks(project: Project, ids: Collection[str]) -> None:
    rows = Webhook.objects.filter(project=project, webhook_id__in=ids)
    if missing := sorted(set(ids) - set(rows.values_list("webhook_id", flat=True))):
        raise InvalidRule(
            "webhooks", _("The project has no webhook %(id)s.") % {"id": missing[0][:50]}
        )


def _restart(rule: AlertRule) -> None:
    """Forget the states: they are those of another condition, or of another time."""
    now: datetime = timezone.now()
    AlertState.objects.filter(rule=rule).delete()
    AlertIncident.objects.filter(rule=rule, ended=None).update(ended=now, end_announced=now)
    forget_count(rule.project_id)
    rule.changed, rule.evaluated, rule.watched_since, rule.problem = now, None, None, ""


def _describe(rule: AlertRule) -> dict[str, object]:
    return {
        "kind": rule.kind,
        "service": rule.service,
        "type": rule.type,
        "function": rule.function,
        "parameters": rule.parameters,
    }


def _describe_recipients(rule: AlertRule) -> dict[str, object]:
    return {
        "sends_mail": rule.sends_mail,
        "tells_subscribed_webhooks": rule.tells_subscribed_webhooks,
        "named_webhooks": rule.named_webhooks,
    }
