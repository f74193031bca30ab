"""Condition on the time since the last profile of a service."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.conditions.observation import Observation, require_minutes
from alerts.conditions.points import StepSums

# Profiles have the time at which their capture began, and arrive up to two minutes later.
MIN_MINUTES, MAX_MINUTES = 5, 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class StoppedReportingCondition:
    """True if a service has sent no profile for some minutes."""

    minutes: int

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> "StoppedReportingCondition":
        """Raise InvalidParameters."""
        value = parameters.get("minutes")
        return cls(require_minutes("minutes", value, MIN_MINUTES, MAX_MINUTES))

    def observe(
        self, time: datetime, last_profile: datetime, watched_since: datetime
    ) -> Observation:
        """Return the verdict; the value is the minutes since the last profile.

        Nothing could arrive before `watched_since`, when the server was down: the time counts from
        then on.
        """
        minutes = (time - last_profile).total_seconds() / 60
        watched = (time - watched_since).total_seconds() / 60
        return Observation(time, max(minutes, 0.0), min(minutes, watched) >= self.minutes)

    def observe_points(self, points: Iterable[StepSums], step: timedelta) -> list[Observation]:
        """Return an observation for each time step, from the numbers of profiles.

        A profile counts as the last thing in its step. There is no verdict before the first one.
        """
        last: datetime | None = None
        found = []
        for point in points:
            last = point.time if point.profiles else last
            if last is None:
                found.append(Observation(point.time, None, None))
            else:
                found.append(self.observe(point.time, last, last - step))
        return found
