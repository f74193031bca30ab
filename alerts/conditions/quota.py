"""Condition on the used part of a quota."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from alerts.conditions.observation import InvalidParameters, Observation, require_number

# Quotas whose usage is measured; the values are those of projects.usage.limits.LimitName.
QUOTAS = ("profiles_per_day", "new_deployments_per_day", "stored_bytes")


@dataclass(frozen=True, slots=True)
class QuotaCondition:
    quota: str  # "": any of QUOTAS
    percent: float

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> "QuotaCondition":
        """Raise InvalidParameters."""
        quota = parameters.get("quota", "")
        if quota not in ("", *QUOTAS):
            raise InvalidParameters("quota", f"has to be empty or one of {', '.join(QUOTAS)}.")
        return cls(str(quota), require_number("percent", parameters.get("percent"), 1, 100))

    @property
    def quotas(self) -> tuple[str, ...]:
        return (self.quota,) if self.quota else QUOTAS

    def observe(self, time: datetime, used: float, allowed: float) -> Observation:
        """Return the verdict; the value is the used part in percent.

        Of a quota of 0, nothing is used as long as nothing arrives.
        """
        if not used:
            return Observation(time, 0.0, False)
        percent = 100 * used / allowed if allowed > 0 else 100.0
        return Observation(time, percent, percent >= self.percent)
