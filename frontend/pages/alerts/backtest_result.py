"""Result of the test of a rule on stored history: a chart and a list of times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.backtest import Backtest, SubjectTest
from alerts.conditions.against_last_week import WeekCondition
from alerts.conditions.registry import Condition
from alerts.conditions.value import ValueCondition
from alerts.models import AlertRule
from alerts.texts import format_minutes, format_observed
from frontend.pages.alerts.view_model import list_evidence_links
from projects.usage.limits import LimitName
from projects.usage.usage import LABELS

WIDTH, HEIGHT = 1000, 200
_MAX_ROWS = 50


@dataclass(frozen=True, slots=True)
class FiringRow:
    subject: str
    start: datetime
    is_over: bool
    duration: str
    extreme: str
    links: dict[str, str]


@dataclass(frozen=True, slots=True)
class Band:
    """Time in which the rule would have fired, in the coordinates of the chart."""

    x: str
    width: str


@dataclass(frozen=True, slots=True)
class BacktestResult:
    count: int
    total: str  # duration
    step: str
    rows: Sequence[FiringRow]
    chart: "BacktestChart | None"


@dataclass(frozen=True, slots=True)
class BacktestChart:
    lines: Sequence[str]
    bands: Sequence[Band]
    limit_y: str
    top: str
    bottom: str
    limit: str


def build_result(rule: AlertRule, condition: Condition, test: Backtest) -> BacktestResult:
    firings = test.firings
    seconds = sum(
        ((firing.end or test.end) - firing.start).total_seconds() for _subject, firing in firings
    )
    rows = [
        FiringRow(
            subject=_name_subject(subject),
            start=firing.start,
            is_over=firing.end is not None,
            duration=format_minutes(
                max(((firing.end or test.end) - firing.start).total_seconds() / 60, 0)
            ),
            extreme=format_observed(rule, condition, firing.extreme),
            links=list_evidence_links(rule, condition, firing.start, firing.end or test.end)
            if isinstance(condition, ValueCondition | WeekCondition)
            else {},
        )
        for subject, firing in firings[:_MAX_ROWS]
    ]
    return BacktestResult(
        count=len(firings),
        total=format_minutes(seconds / 60),
        step=format_minutes(test.step / timedelta(minutes=1)),
        rows=rows,
        chart=_build_chart(rule, condition, test),
    )


def _name_subject(subject: str) -> str:
    return str(LABELS[LimitName(subject)]) if subject in set(LimitName) else subject


def _build_chart(rule: AlertRule, condition: Condition, test: Backtest) -> BacktestChart | None:
    """Return the chart of the values; None for a rule without a line of values."""
    if isinstance(condition, ValueCondition):
        limit = condition.threshold
    elif isinstance(condition, WeekCondition):
        limit = condition.percent if condition.is_above else -condition.percent
    else:
        return None
    (subject,) = test.subjects
    values = [each.value for each in subject.observations if each.value is not None]
    if not values:
        return None
    top, bottom = max([*values, limit, 0]) * 1.1, min([*values, limit, 0]) * 1.1
    height = (top - bottom) or 1.0

    def y(value: float) -> float:
        return HEIGHT * (top - value) / height

    def x(time: datetime) -> float:
        return min(max((time - test.start) / (test.end - test.start), 0.0), 1.0) * WIDTH

    bands = [
        Band(
            f"{x(firing.start):.1f}",
            f"{max(x(firing.end or test.end) - x(firing.start), 1.5):.1f}",
        )
        for firing in subject.firings
    ]
    return BacktestChart(
        lines=_draw_lines(subject, x, y),
        bands=bands,
        limit_y=f"{y(limit):.1f}",
        top=format_observed(rule, condition, top),
        bottom=format_observed(rule, condition, bottom) if bottom else "0",
        limit=format_observed(rule, condition, limit),
    )


def _draw_lines(
    subject: SubjectTest, x: Callable[[datetime], float], y: Callable[[float], float]
) -> list[str]:
    """Return the points of each line; steps without profiles divide lines."""
    lines: list[list[str]] = [[]]
    for each in subject.observations:
        if each.value is None:
            lines.append([])
        else:
            lines[-1].append(f"{x(each.time):.1f},{y(each.value):.1f}")
    return [" ".join(line) for line in lines if len(line) > 1]
