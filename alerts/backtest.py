"""Test of a rule on stored history: the times at which it would have fired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from alerts.conditions import against_last_week, value
from alerts.conditions.against_last_week import WEEK, WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.firing import Firing, HoldTimes, list_firings
from alerts.conditions.observation import Observation
from alerts.conditions.points import StepSums
from alerts.conditions.quota import QuotaCondition
from alerts.conditions.registry import Condition, get_hold_times
from alerts.conditions.stopped_reporting import StoppedReportingCondition
from alerts.conditions.value import ValueCondition
from alerts.models import AlertRule
from alerts.readings import PointRange, load_points
from findings.models import Direction, Finding
from profiles.query import QueryContext, run_service_names
from projects.models import DayUsage
from projects.profile_types import ProfileType
from projects.usage.limits import LimitName, get_limits

DAYS = 30
STEP = timedelta(minutes=30)
MAX_SERVICES = 10  # of a rule on all services
_MAX_FINDINGS = 1000


@dataclass(frozen=True, slots=True)
class SubjectTest:
    """Outcome for one service, quota or finding."""

    subject: str
    observations: Sequence[Observation]
    firings: Sequence[Firing]


@dataclass(frozen=True, slots=True)
class Backtest:
    start: datetime
    end: datetime
    step: timedelta  # of the observations; those of a quota are a day apart
    subjects: Sequence[SubjectTest]

    @property
    def firings(self) -> list[tuple[str, Firing]]:
        """Return all times with their subjects, the latest first."""
        found = [(each.subject, firing) for each in self.subjects for firing in each.firings]
        return sorted(found, key=lambda each: each[1].start, reverse=True)


def run_backtest(
    context: QueryContext, rule: AlertRule, condition: Condition, now: datetime
) -> Backtest:
    """Evaluate a rule, which need not be stored, on the last DAYS days in steps of STEP.

    A condition that has to hold for less than STEP counts as held if the average of a step is true.
    Raise InvalidQuery and DeadlinePassed.
    """
    seconds = STEP.total_seconds()
    end = datetime.fromtimestamp(now.timestamp() // seconds * seconds, UTC)
    start, subjects = end - timedelta(days=DAYS), []
    match condition:
        case ValueCondition():
            points = _load(context, rule, start, end)
            subjects = [
                _test(rule.service, condition.observe(points, max(STEP, value.WINDOW)), condition)
            ]
        case WeekCondition():
            points = _load(context, rule, start, end)
            earlier = _load(context, rule, start - WEEK, end - WEEK)
            window = max(STEP, against_last_week.WINDOW)
            subjects = [_test(rule.service, condition.observe(points, earlier, window), condition)]
        case StoppedReportingCondition():
            subjects = _test_reporting(context, rule, condition, start, end)
        case QuotaCondition():
            subjects = _test_quotas(context.project, condition, start, end)
        case FindingCondition():
            subjects = _test_findings(context.project, rule, condition, start)
    return Backtest(start, end, STEP, subjects)


def _test(
    subject: str, observations: Sequence[Observation], condition: Condition, step: timedelta = STEP
) -> SubjectTest:
    """Return the firings; a true observation says that the condition held for its whole step."""
    live = get_hold_times(condition)
    hold = HoldTimes(max(live.fire - step, timedelta()), max(live.resolve - step, timedelta()))
    return SubjectTest(subject, observations, list(list_firings(observations, hold)))


def _load(context: QueryContext, rule: AlertRule, start: datetime, end: datetime) -> list[StepSums]:
    steps = PointRange(rule.service, ProfileType(rule.type), start, end, STEP)
    return load_points(context, steps, [rule.function])[rule.function]


def _test_reporting(
    context: QueryContext,
    rule: AlertRule,
    condition: StoppedReportingCondition,
    start: datetime,
    end: datetime,
) -> list[SubjectTest]:
    """Test the service of the rule, or those that were seen last."""
    names = [each for each in run_service_names(context) if each.types]
    names.sort(key=lambda each: each.last_seen, reverse=True)
    chosen = [each for each in names if rule.service in {"", each.service}][:MAX_SERVICES]
    found = []
    for each in chosen:
        by_step: dict[datetime, StepSums] = {}
        for type_ in each.types:
            steps = PointRange(each.service, type_, start, end, STEP)
            for point in load_points(context, steps, [""])[""]:
                earlier = by_step.get(point.time)
                by_step[point.time] = earlier + point if earlier else point
        observed = condition.observe_points(by_step.values(), STEP)
        found.append(_test(each.service, observed, condition))
    return found


def _test_quotas(
    project: int, condition: QuotaCondition, start: datetime, end: datetime
) -> list[SubjectTest]:
    """Test the usage of whole days against the limits of today."""
    limits = get_limits(project)
    rows = list(DayUsage.objects.filter(project=project, day__lte=end.date()).order_by("day"))
    found = []
    for quota in condition.quotas:
        name, stored = LimitName(quota), 0
        observed = []
        for row in rows:
            stored += row.stored_bytes
            used = {
                LimitName.PROFILES_PER_DAY: row.profiles,
                LimitName.NEW_DEPLOYMENTS_PER_DAY: row.new_deployments,
                LimitName.STORED_BYTES: stored,
            }[name]
            day = datetime.combine(row.day, time(), UTC)
            if day >= start:
                observed.append(condition.observe(day, used, limits.get_limit(name)))
        found.append(_test(quota, observed, condition))
    return found


def _test_findings(
    project: int, rule: AlertRule, condition: FindingCondition, start: datetime
) -> list[SubjectTest]:
    rows = Finding.objects.filter(project=project, direction=Direction.REGRESSION, found__gte=start)
    if rule.service:
        rows = rows.filter(service=rule.service)
    found = []
    for row in rows.order_by("-found", "-pk")[:_MAX_FINDINGS]:
        seen = condition.observe(row.found, row.relative, is_open=True)
        if seen.is_true:
            firing = Firing(row.found, row.ended, seen.value)
            found.append(SubjectTest(row.function, [seen], [firing]))
    return found
