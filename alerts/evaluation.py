"""Evaluation of a project's rules: observe what their conditions say, and store their states.

Everything that the next evaluation needs is in the database: after a restart it observes the
minutes that were left out. Rules of one service and profile type share one query.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from alerts.conditions import against_last_week, value
from alerts.conditions.against_last_week import WEEK, WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.firing import FiringState, HoldTimes, Phase, advance
from alerts.conditions.observation import InvalidParameters, Observation
from alerts.conditions.quota import QuotaCondition
from alerts.conditions.registry import Condition, ConditionKind, get_hold_times
from alerts.conditions.stopped_reporting import StoppedReportingCondition
from alerts.conditions.value import ValueCondition
from alerts.firing_alerts import forget_count
from alerts.models import AlertIncident, AlertRule, AlertState, RuleKind
from alerts.readings import MINUTE, PointRange, PointsByFunction, load_points
from findings.hourly_sums.storage import last_complete_end
from findings.models import OPEN_STATES, Direction, Finding
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext, run_services
from projects.models import Project
from projects.profile_types import ProfileType
from projects.usage.usage import load_usage

log = logging.getLogger(__name__)

# Profiles have the time at which their capture began, and arrive within a minute of its end.
SETTLE = MINUTE
# Minutes that were not evaluated are observed later, this many at most.
CATCH_UP = timedelta(hours=1)
# After a longer time without an evaluation the server was down, and no profile could arrive.
MAX_PAUSE = timedelta(minutes=5)
# The week before is read every five minutes: its averages are those of an hour.
WEEK_INTERVAL_MINUTES = 5
# A service that has sent nothing for longer was taken out of use.
RETIRED = timedelta(days=7)
MAX_SUBJECTS = 200  # of a rule
_MAX_PROBLEM = 500
_SLOW_MINUTES = 30
_TURNS = 3  # minutes; below MAX_PAUSE, also if a turn begins a minute late


@dataclass(frozen=True, slots=True)
class SubjectReport:
    """Observations of one subject of a rule, in order of time."""

    subject: str
    service: str
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class RuleReport:
    """Outcome of the observation of a rule up to a time."""

    rule: AlertRule
    condition: Condition
    time: datetime
    subjects: tuple[SubjectReport, ...] = ()
    problem: str = ""


def find_projects(now: datetime) -> list[int]:
    """Return the pks of projects with rules to evaluate in this minute.

    Projects whose only rules wait for _SLOW_MINUTES without a profile have their turn every
    _TURNS minutes: each new project has such a rule, and there may be thousands of them.
    """
    is_slow = Q(kind=RuleKind.STOPPED_REPORTING, parameters__minutes__gte=_SLOW_MINUTES)
    turn = int(now.timestamp()) // 60 % _TURNS
    rows = AlertRule.objects.filter(is_enabled=True, project__deletion_due=None)
    rows = rows.alias(turn=F("project_id") % _TURNS).filter(~is_slow | Q(turn=turn))
    return list(rows.order_by("project_id").values_list("project_id", flat=True).distinct())


def evaluate_rules(project: Project, now: datetime, deadline: float | None = None) -> None:
    """Observe all enabled rules of a project, and store their states and incidents.

    Rules that were evaluated longest ago come first. At the deadline, in seconds of
    time.monotonic(), raise DeadlinePassed; later evaluations catch up on the other rules.
    """
    context = QueryContext(project.pk, project.project_id, deadline)
    minute = now.replace(second=0, microsecond=0)
    rows = AlertRule.objects.filter(project=project, is_enabled=True)
    rules = list(rows.order_by("evaluated", "pk"))
    by_series: dict[tuple[str, str], list[_ParsedRule]] = defaultdict(list)
    others: list[_ParsedRule] = []
    for rule in rules:
        try:
            parsed = _ParsedRule(rule, rule.parse_condition())
        except InvalidParameters as error:
            _store_problem(rule, str(error))
            continue
        if isinstance(parsed.condition, ValueCondition | WeekCondition):
            by_series[rule.service, rule.type].append(parsed)
        else:
            others.append(parsed)
    for report in _observe_others(context, project, others, minute):
        store_report(report)
    for (service, type_), group in by_series.items():
        context.check()
        for report in _observe_series(context, service, ProfileType(type_), group, minute - SETTLE):
            store_report(report)


@dataclass(frozen=True, slots=True)
class _ParsedRule:
    rule: AlertRule
    condition: Condition

    def get_last_time(self, time: datetime) -> datetime:
        """Return the time after which the rule has to be observed."""
        return max(self.rule.evaluated or self.rule.changed, time - CATCH_UP)

    def get_watched_since(self, time: datetime) -> datetime:
        """Return the first time since which the server has evaluated the rule."""
        evaluated, since = self.rule.evaluated, self.rule.watched_since
        if evaluated is None or since is None or time - evaluated > MAX_PAUSE:
            return time
        return since


def _observe_series(
    context: QueryContext,
    service: str,
    type_: ProfileType,
    group: Sequence[_ParsedRule],
    time: datetime,
) -> list[RuleReport]:
    """Observe the rules on the values of one service and type with one query, or two.

    The second one is that of the week before, if a rule needs it.
    """
    reads_week = time.minute % WEEK_INTERVAL_MINUTES == 0
    group = [each for each in group if reads_week or not isinstance(each.condition, WeekCondition)]
    group = [each for each in group if each.get_last_time(time) < time]
    if not group:
        return []
    of_week = [each for each in group if isinstance(each.condition, WeekCondition)]
    window = against_last_week.WINDOW if of_week else value.WINDOW
    start = min(each.get_last_time(time) for each in group) - window
    steps = PointRange(service, type_, start.replace(second=0, microsecond=0), time, MINUTE)
    try:
        points = load_points(context, steps, _list_functions(group))
        earlier: PointsByFunction = {}
        if of_week:
            before = PointRange(service, type_, steps.start - WEEK, time - WEEK, MINUTE)
            earlier = load_points(context, before, _list_functions(of_week))
    except DeadlinePassed:
        raise
    except InvalidQuery as error:
        return [RuleReport(*(each.rule, each.condition), time, (), str(error)) for each in group]
    return [_build_series_report(each, points, earlier, time) for each in group]


def _list_functions(group: Iterable[_ParsedRule]) -> list[str]:
    return sorted({each.rule.function for each in group})


def _build_series_report(
    parsed: _ParsedRule, points: PointsByFunction, earlier: PointsByFunction, time: datetime
) -> RuleReport:
    rule, condition = parsed.rule, parsed.condition
    observed: list[Observation] = []
    if isinstance(condition, ValueCondition):
        observed = condition.observe(points[rule.function])
    elif isinstance(condition, WeekCondition):
        observed = condition.observe(points[rule.function], earlier[rule.function])
    last = parsed.get_last_time(time)
    new = tuple(each for each in observed if each.time > last)
    return RuleReport(rule, condition, time, (SubjectReport(rule.service, rule.service, new),))


def _observe_others(
    context: QueryContext, project: Project, rules: Sequence[_ParsedRule], time: datetime
) -> list[RuleReport]:
    """Observe the rules that need no values; each kind's facts are read once."""
    kinds = {type(each.condition) for each in rules}
    last_profiles: dict[str, datetime] = {}
    if StoppedReportingCondition in kinds:
        rows = run_services(context, time - MINUTE, time).rows
        last_profiles = {row.service: row.last_profile for row in rows if row.last_profile}
    usage: dict[str, tuple[int, int]] = {}
    if QuotaCondition in kinds:
        limits = load_usage(project.pk).limits
        usage = {each.name.value: (each.used or 0, each.allowed) for each in limits}
    reports = []
    for parsed in rules:
        rule, condition = parsed.rule, parsed.condition
        subjects: list[SubjectReport] = []
        if isinstance(condition, StoppedReportingCondition):
            subjects = _observe_services(parsed, condition, last_profiles, time)
        elif isinstance(condition, QuotaCondition):
            subjects = [
                SubjectReport(name, "", (condition.observe(time, *usage[name]),))
                for name in condition.quotas
            ]
        elif isinstance(condition, FindingCondition):
            subjects = _observe_findings(rule, condition, time)
        reports.append(RuleReport(rule, condition, time, tuple(subjects)))
    return reports


def _observe_services(
    parsed: _ParsedRule,
    condition: StoppedReportingCondition,
    last_profiles: dict[str, datetime],
    time: datetime,
) -> list[SubjectReport]:
    since, service = parsed.get_watched_since(time), parsed.rule.service
    chosen = {
        name: last
        for name, last in last_profiles.items()
        if name == service or (not service and last > time - RETIRED)
    }
    latest = sorted(chosen, key=lambda name: chosen[name], reverse=True)[:MAX_SUBJECTS]
    return [
        SubjectReport(name, name, (condition.observe(time, chosen[name], since),))
        for name in latest
    ]


def _observe_findings(
    rule: AlertRule, condition: FindingCondition, time: datetime
) -> list[SubjectReport]:
    """Observe the regressions of later analyses than the rule, the newest ones."""
    rows = Finding.objects.filter(
        project=rule.project_id,
        direction=Direction.REGRESSION,
        found__gt=last_complete_end(rule.changed),
    )
    if rule.service:
        rows = rows.filter(service=rule.service)
    return [
        SubjectReport(
            row.finding_id,
            row.service,
            (condition.observe(time, row.relative, is_open=row.state in OPEN_STATES),),
        )
        for row in rows.order_by("-found", "-pk")[:MAX_SUBJECTS]
    ]


def store_report(report: RuleReport) -> None:
    """Store the new states of a rule, and open and end its incidents, in one transaction.

    A report of a rule that was changed, disabled or evaluated meanwhile is discarded.
    """
    with transaction.atomic():
        rule = (
            AlertRule.objects.select_for_update(no_key=True)
            .filter(
                pk=report.rule.pk,
                is_enabled=True,
                changed=report.rule.changed,
                evaluated=report.rule.evaluated,
            )
            .first()
        )
        if rule is None:
            return
        if report.problem:
            _store_problem(rule, report.problem)
            return
        _store_states(rule, report)
        parsed = _ParsedRule(rule, report.condition)
        rule.watched_since = parsed.get_watched_since(report.time)
        rule.evaluated, rule.problem = report.time, ""
        rule.save(update_fields=["evaluated", "watched_since", "problem"])
        forget_count(rule.project_id)


def _store_problem(rule: AlertRule, problem: str) -> None:
    rule.problem = problem[:_MAX_PROBLEM]
    rule.save(update_fields=["problem"])


def _store_states(rule: AlertRule, report: RuleReport) -> None:
    hold = get_hold_times(report.condition)
    stored = {row.subject: row for row in rule.states.all()}
    open_incidents = {row.subject: row for row in rule.incidents.filter(ended=None)}
    subjects = {each.subject: each for each in report.subjects}
    for name, row in stored.items():
        if name not in subjects:  # without data: its service or finding is gone
            nothing = Observation(report.time, None, None)
            subjects[name] = SubjectReport(name, row.service, (nothing,))
    new: list[AlertState] = []
    changed: list[AlertState] = []
    ended: list[int] = []
    for name, subject in subjects.items():
        row = stored.get(name) or AlertState(rule=rule, subject=name, service=subject.service)
        _follow_subject(row, subject.observations, open_incidents.get(name), hold)
        has_data = bool(subject.observations) and subject.observations[-1].is_true is not None
        is_settled = row.phase == Phase.OK and (rule.kind == ConditionKind.FINDING or not has_data)
        if is_settled and name != rule.service:
            ended += [row.pk] if row.pk else []
        elif row.pk is None:
            new.append(row)
        else:
            changed.append(row)
    AlertState.objects.bulk_create(new)
    AlertState.objects.bulk_update(changed, ["phase", "since", "clear_since", "last_data", "value"])
    AlertState.objects.filter(pk__in=ended).delete()


def _follow_subject(
    row: AlertState,
    observations: Sequence[Observation],
    incident: AlertIncident | None,
    hold: HoldTimes,
) -> None:
    """Advance the state of a subject, and open and end its incident."""
    state = FiringState(Phase(row.phase), row.since, row.clear_since, row.last_data)
    for observation in observations:
        clear_since = state.clear_since
        state = advance(state, observation, hold)
        if state.phase is Phase.FIRING:
            incident = _note_firing(row, observation, incident)
        elif incident is not None:
            incident.ended = max(clear_since or observation.time, incident.started)
            incident.save(update_fields=["ended", "last_value", "extreme"])
            incident = None
    if incident is not None:
        incident.save()
    if observations:
        row.value = observations[-1].value
    row.phase, row.since = state.phase, state.since
    row.clear_since, row.last_data = state.clear_since, state.last_data


def _note_firing(
    row: AlertState, observation: Observation, incident: AlertIncident | None
) -> AlertIncident:
    """Return the open incident with the value; a new one is stored later."""
    number = observation.value
    if incident is None:
        return AlertIncident.objects.create(
            rule=row.rule,
            subject=row.subject,
            service=row.service,
            started=observation.time,
            value=number,
            last_value=number,
            extreme=number,
        )
    if number is not None:
        incident.last_value = number
        if incident.extreme is None or abs(number) > abs(incident.extreme):
            incident.extreme = number
    return incident
