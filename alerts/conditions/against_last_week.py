"""Condition on the ratio of a value to that of the same time a week before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from alerts.conditions.observation import (
    Observation,
    require_bool,
    require_minutes,
    require_number,
)
from alerts.conditions.points import Measure, StepSums, sum_windows
from alerts.conditions.value import MAX_MINUTES, parse_measure

WEEK = timedelta(days=7)
# An hour against the same hour: five minutes of one week differ from those of the next by chance.
WINDOW = timedelta(hours=1)
MAX_PERCENT = 10_000


@dataclass(frozen=True, slots=True)
class WeekCondition:
    """True if the value is `percent` percent above, or below, that of the week before."""

    measure: Measure
    is_above: bool
    percent: float
    minutes: int  # for which the verdict has to hold

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> "WeekCondition":
        """Raise InvalidParameters."""
        is_above = require_bool("is_above", parameters.get("is_above"))
        return cls(
            parse_measure(parameters.get("measure")),
            is_above,
            require_number(
                "percent", parameters.get("percent"), 1, MAX_PERCENT if is_above else 99
            ),
            require_minutes("minutes", parameters.get("minutes"), 1, MAX_MINUTES),
        )

    def observe(
        self, points: Iterable[StepSums], earlier: Iterable[StepSums], window: timedelta = WINDOW
    ) -> list[Observation]:
        """Return an observation for each point: the change against `earlier`, in percent.

        `earlier` has the points of the week before. Without a point at the same time, without
        profiles or with a value of 0 there is no verdict.
        """
        before = {
            point.time + WEEK: point.measure(self.measure) for point in sum_windows(earlier, window)
        }
        return [self._judge(each, before.get(each.time)) for each in sum_windows(points, window)]

    def _judge(self, point: StepSums, before: float | None) -> Observation:
        value = point.measure(self.measure)
        if value is None or before is None or before <= 0:
            return Observation(point.time, None, None)
        change = 100 * (value / before - 1)
        is_true = change > self.percent if self.is_above else change < -self.percent
        return Observation(point.time, change, is_true)
