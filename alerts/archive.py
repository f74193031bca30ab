"""Alerts of a project in the archive of its export."""

from typing import Any

from alerts.models import AlertIncident, AlertRule, AlertSilence
from projects.models import Project

_RULE = (
    *("rule_id", "name", "kind", "parameters", "service", "type", "function", "is_enabled"),
    *("sends_mail", "tells_subscribed_webhooks", "named_webhooks"),
    *("created", "created_by__email", "changed"),
)
_INCIDENT = (
    *("incident_id", "rule__rule_id", "subject", "service", "started", "ended"),
    *("value", "last_value", "extreme"),
)
_SILENCE = ("rule__rule_id", "created", "until", "reason", "created_by__email")


def describe_alerts(project: Project) -> dict[str, list[dict[str, Any]]]:
    """Return rules, their incidents and silences."""
    rules = AlertRule.objects.filter(project=project).order_by("pk")
    incidents = AlertIncident.objects.filter(rule__project=project).order_by("pk")
    silences = AlertSilence.objects.filter(project=project).order_by("pk")
    return {
        "rules": list(rules.values(*_RULE)),
        "incidents": list(incidents.values(*_INCIDENT)),
        "silences": list(silences.values(*_SILENCE)),
    }
