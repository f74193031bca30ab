"""Condition on a regression that the analysis has found."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from alerts.conditions.observation import Observation, require_number

MAX_PERCENT = 10_000
# Change of a function that had no cost before.
NEW_FUNCTION_PERCENT = float(MAX_PERCENT)


@dataclass(frozen=True, slots=True)
class FindingCondition:
    percent: float  # smallest change of the function

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> "FindingCondition":
        """Raise InvalidParameters."""
        return cls(require_number("percent", parameters.get("percent"), 1, MAX_PERCENT))

    def observe(self, time: datetime, relative: float | None, *, is_open: bool) -> Observation:
        """Return the verdict; the value is the change in percent.

        `relative` is the change as a part of the value before, None for a new function. A finding
        that was resolved or muted is false.
        """
        percent = NEW_FUNCTION_PERCENT if relative is None else 100 * relative
        return Observation(time, percent, is_open and percent >= self.percent)
