"""Time steps of a history and of a series: their lengths and starts, and the sums of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from profiles.engine.timestamps import round_down
from profiles.queries.selection import InvalidQuery, ProfileSelection

MAX_STEPS = 400
_DAY = timedelta(days=1)
# Lengths that divide a day, so that steps begin at round times of UTC; then days and weeks.
_WITHIN_A_DAY = [
    timedelta(seconds=seconds)
    for seconds in (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200)
]
_MOST_WITHIN_A_DAY = 60  # steps
_MOST_DAYS = 120


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """Time step, with sums over its profiles."""

    start: datetime
    profiles: int
    total: int  # Σ of the metric, after filters
    duration_ns: int  # Σ


def choose_step(span: timedelta) -> timedelta:
    """Return a round step: a day for 30 to 120 days, less for less, whole weeks for more."""
    for step in _WITHIN_A_DAY:
        if span / step < _MOST_WITHIN_A_DAY:
            return step
    if span / _DAY <= _MOST_DAYS:
        return _DAY
    weeks = -(-span // (7 * _DAY * _MOST_DAYS))
    return 7 * _DAY * weeks


def step_starts(selection: ProfileSelection, step: timedelta) -> list[datetime]:
    """Return the starts of the steps of a range, at round times of UTC.

    The first may lie before the range. Raise InvalidQuery if there are none or more than MAX_STEPS.
    """
    if selection.end <= selection.start or step < timedelta(seconds=1):
        raise InvalidQuery("A history needs a range that is not empty, and steps of 1 s or more.")
    first = round_down(selection.start, step)
    count = -((first - selection.end) // step)
    if count > MAX_STEPS:
        raise InvalidQuery(
            f"Steps of {step} divide this range into {count:,}; the limit is {MAX_STEPS:,}. "
            "Choose longer steps or a shorter range."
        )
    return [first + i * step for i in range(count)]


def steps_document(steps: Sequence[HistoryStep]) -> dict[str, list[Any]]:
    """Return the steps as columns."""
    return {
        "start": [step.start for step in steps],
        "profiles": [step.profiles for step in steps],
        "total": [step.total for step in steps],
        "duration_s": [step.duration_ns / max(step.profiles, 1) / 1e9 for step in steps],
    }
