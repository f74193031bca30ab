"""Condition on the value of a function or service: above or below a threshold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from alerts.conditions.observation import (
    InvalidParameters,
    Observation,
    require_bool,
    require_minutes,
    require_number,
)
from alerts.conditions.points import Measure, StepSums, sum_windows

# Values are averages of so long: one missing or extreme profile changes no verdict alone.
WINDOW = timedelta(minutes=5)
MAX_MINUTES = 24 * 60
MAX_THRESHOLD = 1e18


@dataclass(frozen=True, slots=True)
class ValueCondition:
    measure: Measure
    is_above: bool
    threshold: float  # in percent, cores, or the unit of the profile type
    minutes: int  # for which the verdict has to hold

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> "ValueCondition":
        """Raise InvalidParameters."""
        most = 100 if parameters.get("measure") == Measure.SHARE else MAX_THRESHOLD
        return cls(
            parse_measure(parameters.get("measure")),
            require_bool("is_above", parameters.get("is_above")),
            require_number("threshold", parameters.get("threshold"), 0, most),
            require_minutes("minutes", parameters.get("minutes"), 1, MAX_MINUTES),
        )

    def observe(self, points: Iterable[StepSums], window: timedelta = WINDOW) -> list[Observation]:
        """Return an observation for each point, of the average of the window before it."""
        return [self._judge(each) for each in sum_windows(points, window)]

    def _judge(self, point: StepSums) -> Observation:
        value = point.measure(self.measure)
        if value is None:
            return Observation(point.time, None, None)
        is_true = value > self.threshold if self.is_above else value < self.threshold
        return Observation(point.time, value, is_true)


def parse_measure(value: object) -> Measure:
    """Raise InvalidParameters for another value than those of Measure."""
    try:
        return Measure(str(value))
    except ValueError:
        raise InvalidParameters("measure", f"has to be one of {', '.join(Measure)}.") from None
