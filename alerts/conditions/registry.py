"""Kinds of conditions, and their parameters as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from alerts.conditions.against_last_week import WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.firing import HoldTimes
from alerts.conditions.observation import InvalidParameters
from alerts.conditions.quota import QuotaCondition
from alerts.conditions.stopped_reporting import StoppedReportingCondition
from alerts.conditions.value import ValueCondition

# One average at the threshold neither resolves an alert nor fires it again.
RESOLVE_TIME = timedelta(minutes=5)


class ConditionKind(StrEnum):
    """The values are stored."""

    VALUE = "value"
    AGAINST_LAST_WEEK = "against_last_week"
    STOPPED_REPORTING = "stopped_reporting"
    QUOTA = "quota"
    FINDING = "finding"


Condition: TypeAlias = (
    ValueCondition | WeekCondition | StoppedReportingCondition | QuotaCondition | FindingCondition
)

_CONDITIONS: dict[ConditionKind, type[Condition]] = {
    ConditionKind.VALUE: ValueCondition,
    ConditionKind.AGAINST_LAST_WEEK: WeekCondition,
    ConditionKind.STOPPED_REPORTING: StoppedReportingCondition,
    ConditionKind.QUOTA: QuotaCondition,
    ConditionKind.FINDING: FindingCondition,
}
PARAMETERS: dict[ConditionKind, tuple[str, ...]] = {
    kind: tuple(condition.__dataclass_fields__) for kind, condition in _CONDITIONS.items()
}


def parse_condition(kind: ConditionKind, parameters: Mapping[str, object]) -> Condition:
    """Return the condition. Raise InvalidParameters for a wrong, missing or unknown parameter."""
    unknown = [name for name in parameters if name not in PARAMETERS[kind]]
    if unknown:
        allowed = ", ".join(PARAMETERS[kind])
        raise InvalidParameters(
            unknown[0][:50], f"is no parameter of this kind; its parameters are {allowed}."
        )
    return _CONDITIONS[kind].from_parameters(parameters)


def list_parameters(condition: Condition) -> dict[str, object]:
    """Return the parameters as they are stored."""
    return asdict(condition)


def get_hold_times(condition: Condition) -> HoldTimes:
    """Return the times for which the verdicts of a condition have to hold."""
    if isinstance(condition, ValueCondition | WeekCondition):
        return HoldTimes(timedelta(minutes=condition.minutes), RESOLVE_TIME)
    return HoldTimes(timedelta(), timedelta())
