"""Alert rules of a project, their states and incidents, and silences."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from alerts.conditions.firing import Phase
from alerts.conditions.registry import Condition, ConditionKind, parse_condition
from projects.models import Project

MAX_NAME = 100
MAX_FUNCTION = 500
MAX_REASON = 500


class RuleKind(models.TextChoices):
    """Kinds of conditions, in words."""

    VALUE = ConditionKind.VALUE.value, _("Value")
    AGAINST_LAST_WEEK = ConditionKind.AGAINST_LAST_WEEK.value, _("Against last week")
    STOPPED_REPORTING = ConditionKind.STOPPED_REPORTING.value, _("Stopped reporting")
    QUOTA = ConditionKind.QUOTA.value, _("Quota")
    FINDING = ConditionKind.FINDING.value, _("Regression")


class AlertPhase(models.TextChoices):
    """States of an alert, in words."""

    OK = Phase.OK.value, _("OK")
    PENDING = Phase.PENDING.value, _("Pending")
    FIRING = Phase.FIRING.value, _("Firing")


def make_alert_id() -> str:
    return secrets.token_hex(6)


class AlertRule(models.Model):
    """Condition that is evaluated each minute.

    An empty service stands for all of them, where the kind allows it; an empty function for the
    whole service.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alert_rules")
    rule_id = models.CharField(max_length=12, unique=True, default=make_alert_id)
    name = models.CharField(max_length=MAX_NAME)
    kind = models.CharField(max_length=20, choices=RuleKind)
    parameters = models.JSONField()  # alerts.conditions.registry
    service = models.CharField(max_length=255, blank=True, default="")
    type = models.CharField(max_length=10, blank=True, default="")  # ProfileType
    function = models.CharField(max_length=MAX_FUNCTION, blank=True, default="")
    is_enabled = models.BooleanField(default=True)
    # Who gets its messages: members and webhooks that want alerts, and webhooks by their ids.
    sends_mail = models.BooleanField(default=True)
    tells_subscribed_webhooks = models.BooleanField(default=True)
    named_webhooks = models.JSONField(default=list)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed = models.DateTimeField()  # of its condition; states before it do not count
    # Latest time of its observations, and the first one since the server did not evaluate it.
    evaluated = models.DateTimeField(null=True)
    watched_since = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, blank=True, default="")  # of the last evaluation

    class Meta:
        indexes = [models.Index(fields=["is_enabled", "project"], name="alert_rule_enabled")]

    def __str__(self) -> str:
        return self.name

    def parse_condition(self) -> Condition:
        """Raise InvalidParameters if a later version of the server stored others."""
        return parse_condition(ConditionKind(self.kind), self.parameters)


class AlertState(models.Model):
    """State of a rule for one subject: a service, a quota or a finding."""

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="states")
    subject = models.CharField(max_length=255)
    service = models.CharField(max_length=255, blank=True, default="")  # "" for a quota
    phase = models.CharField(max_length=8, choices=AlertPhase, default=AlertPhase.OK)
    since = models.DateTimeField(null=True)  # as in alerts.conditions.firing.FiringState
    clear_since = models.DateTimeField(null=True)
    last_data = models.DateTimeField(null=True)
    value = models.FloatField(null=True)  # latest

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "subject"], name="alert_state_once")]

    def __str__(self) -> str:
        return f"{self.subject} {self.phase}"


class AlertIncident(models.Model):
    """Time in which a rule fires for one subject; at most one is open."""

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="incidents")
    incident_id = models.CharField(max_length=12, unique=True, default=make_alert_id)
    subject = models.CharField(max_length=255)
    service = models.CharField(max_length=255, blank=True, default="")
    started = models.DateTimeField()
    ended = models.DateTimeField(null=True)
    value = models.FloatField(null=True)  # when it started
    last_value = models.FloatField(null=True)
    extreme = models.FloatField(null=True)  # farthest from 0
    announced = models.DateTimeField(null=True)  # recipients were told that it fires
    end_announced = models.DateTimeField(null=True)  # or are not to be told

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject"], condition=Q(ended=None), name="alert_incident_open_once"
            )
        ]
        indexes = [models.Index(fields=["rule", "-started"], name="alert_incident_by_rule")]

    def __str__(self) -> str:
        return f"{self.subject} {self.started:%F %T}"


class AlertSilence(models.Model):
    """Time in which a rule, or all rules of the project, send no messages."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alert_silences")
    rule = models.ForeignKey(
        AlertRule, on_delete=models.CASCADE, null=True, related_name="silences"
    )  # null: all rules
    created = models.DateTimeField()
    until = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    reason = models.CharField(max_length=MAX_REASON, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["project", "until"], name="alert_silence_until")]

    def __str__(self) -> str:
        return self.reason or f"until {self.until:%F %T}"
