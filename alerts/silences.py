"""Silences of alerts: which are active, with the audit log."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from alerts.models import MAX_REASON, AlertRule, AlertSilence
from projects import audit
from projects.models import Project, User

MAX_DURATION = timedelta(days=365)


def find_active(project: Project, now: datetime) -> QuerySet[AlertSilence]:
    rows = AlertSilence.objects.filter(project=project, until__gt=now)
    return rows.select_related("rule", "created_by").order_by("until", "pk")


def find_silenced_rules(project: Project, now: datetime) -> Collection[int]:
    """Return the primary keys of the rules that send no messages now."""
    active = AlertSilence.objects.filter(project=project, until__gt=now)
    rows = AlertRule.objects.filter(project=project)
    if not active.filter(rule=None).exists():
        rows = rows.filter(Q(pk__in=active.values("rule")))
    return set(rows.values_list("pk", flat=True))


def create(
    project: Project,
    rule: AlertRule | None,
    *,
    now: datetime,
    duration: timedelta,
    reason: str,
    actor: User | None,
    actor_key: str = "",
    origin: audit.Origin,
) -> AlertSilence:
    """Silence a rule, or all of the project; `duration` is at most MAX_DURATION."""
    until = now + min(duration, MAX_DURATION)
    with transaction.atomic():
        row = AlertSilence.objects.create(
            project=project,
            rule=rule,
            created=now,
            until=until,
            created_by=actor,
            reason=reason[:MAX_REASON],
        )
        audit.record(
            project,
            "alert.silence",
            actor=actor,
            actor_key=actor_key,
            origin=origin,
            target=rule.name if rule else "",
            rule=rule.rule_id if rule else "",
            until=f"{until:%FT%TZ}",
            reason=row.reason,
        )
    return row


def end(silence: AlertSilence, *, now: datetime, actor: User, origin: audit.Origin) -> None:
    """End a silence now; rules that fire send their messages with the next evaluation."""
    with transaction.atomic():
        if not AlertSilence.objects.filter(pk=silence.pk, until__gt=now).update(until=now):
            return
        audit.record(
            silence.project,
            "alert.unsilence",
            actor=actor,
            origin=origin,
            target=silence.rule.name if silence.rule else "",
            reason=silence.reason,
        )
