"""Lists of rules, of alerts that fire and of silences, as the page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Count, Max, Q
from django.urls import reverse

from alerts import silences
from alerts.conditions.against_last_week import WeekCondition
from alerts.conditions.firing import Phase
from alerts.conditions.observation import InvalidParameters
from alerts.conditions.registry import Condition
from alerts.conditions.value import ValueCondition
from alerts.evidence import compare_times
from alerts.models import AlertIncident, AlertRule, AlertSilence
from alerts.rules import SERIES_KINDS, find_rules
from alerts.texts import describe_incident, describe_rule, format_minutes, format_observed
from common.time_text import time_text
from frontend.text.display_names import type_name
from profiles.query import is_expression
from projects.models import Project
from projects.profile_types import ProfileType

COUNTED = timedelta(days=30)
_MAX_FIRING = 50
_MAX_INCIDENTS = 50
_DAY = timedelta(days=1)


_STATES = ("firing", "problem", "pending", "ok", "silenced", "paused")  # in the order of the list


@dataclass(frozen=True, slots=True)
class RuleRow:
    rule: AlertRule
    sentence: str
    state: str  # of _STATES
    values: str  # latest ones
    fired: int  # incidents of the last COUNTED
    last_fired: datetime | None


@dataclass(frozen=True, slots=True)
class IncidentRow:
    incident: AlertIncident
    rule: AlertRule
    text: str
    duration: str
    extreme: str
    is_silenced: bool
    links: dict[str, str]


@dataclass(frozen=True, slots=True)
class AlertList:
    rules: Sequence[RuleRow]
    firing: Sequence[IncidentRow]
    silences: Sequence[AlertSilence]
    silenced: int  # rules
    evaluated: datetime | None


def build_list(project: Project, now: datetime) -> AlertList:
    silenced = silences.find_silenced_rules(project, now)
    active = list(silences.find_active(project, now))
    incidents = AlertIncident.objects.filter(rule__project=project).values_list("rule_id")
    counted = incidents.annotate(
        fired=Count("pk", filter=Q(started__gt=now - COUNTED)), last=Max("started")
    )
    counts = {rule: (fired, last) for rule, fired, last in counted}
    rows = [
        _build_rule(rule, *counts.get(rule.pk, (0, None)), is_silenced=rule.pk in silenced)
        for rule in find_rules(project).prefetch_related("states")
    ]
    rows.sort(key=lambda row: _STATES.index(row.state))
    firing = AlertIncident.objects.filter(rule__project=project, ended=None)
    chosen = firing.select_related("rule__project").order_by("-started", "-pk")[:_MAX_FIRING]
    return AlertList(
        rules=rows,
        firing=[_build_incident(row, now, row.rule_id in silenced) for row in chosen],
        silences=active,
        silenced=sum(row.state == "silenced" for row in rows),
        evaluated=max((row.rule.evaluated for row in rows if row.rule.evaluated), default=None),
    )


def list_incidents(rule: AlertRule, now: datetime) -> list[IncidentRow]:
    rows = rule.incidents.select_related("rule__project").order_by("-started", "-pk")
    return [_build_incident(row, now, False) for row in rows[:_MAX_INCIDENTS]]


def write_sentence(rule: AlertRule) -> str:
    condition = parse_rule(rule)
    if condition is None:
        return ""
    name = type_name(ProfileType(rule.type)) if rule.type else ""
    return describe_rule(rule, condition, name)


def parse_rule(rule: AlertRule) -> Condition | None:
    """Return the condition; None for parameters of a later version of the server."""
    try:
        return rule.parse_condition()
    except InvalidParameters:
        return None


def _build_rule(
    rule: AlertRule, fired: int, last_fired: datetime | None, *, is_silenced: bool
) -> RuleRow:
    condition = parse_rule(rule)
    states = list(rule.states.all())
    phases = {row.phase for row in states}
    if not rule.is_enabled:
        state = "paused"
    elif is_silenced:
        state = "silenced"
    elif Phase.FIRING in phases:
        state = "firing"
    elif rule.problem:
        state = "problem"
    else:
        state = "pending" if Phase.PENDING in phases else "ok"
    values = ""
    if condition is not None and rule.kind in SERIES_KINDS:
        values = " ".join(format_observed(rule, condition, row.value) for row in states)
    return RuleRow(rule, write_sentence(rule), state, values, fired, last_fired)


def _build_incident(incident: AlertIncident, now: datetime, is_silenced: bool) -> IncidentRow:
    rule, condition = incident.rule, parse_rule(incident.rule)
    seconds = ((incident.ended or now) - incident.started).total_seconds()
    return IncidentRow(
        incident=incident,
        rule=rule,
        text=describe_incident(rule, condition, incident) if condition else "",
        duration=format_minutes(max(seconds, 0) / 60),
        extreme=format_observed(rule, condition, incident.extreme) if condition else "",
        is_silenced=is_silenced,
        links=list_evidence_links(rule, condition, incident.started, incident.ended or now)
        if isinstance(condition, ValueCondition | WeekCondition)
        else {},
    )


def list_evidence_links(
    rule: AlertRule, condition: ValueCondition | WeekCondition, start: datetime, end: datetime
) -> dict[str, str]:
    """Return the URLs of views of the time in which a rule on values fires."""
    project = rule.project.project_id
    common = {"service": rule.service, "type": rule.type}
    chosen = {"function": rule.function} if rule.function else {}
    if is_expression(rule.function):
        chosen = {"f": f"show:{rule.function}"}
    whole = _range(start - _DAY, end + timedelta(hours=1))
    return {
        "compare": _url("compare", project, compare_times(rule, condition, start, end)),
        "history": _url("history", project, common | whole | chosen),
    }


def _range(start: datetime, end: datetime) -> dict[str, str]:
    return {"from": time_text(start), "to": time_text(end)}


def _url(page: str, project: str, parameters: dict[str, str]) -> str:
    return f"{reverse(page, args=[project])}?{urlencode(parameters)}"
