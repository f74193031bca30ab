"""States of an alert: OK → pending → firing → OK, with times for which a verdict has to hold."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.conditions.observation import Observation

# Without data for so long a condition counts as false: its service is gone.
MAX_GAP = timedelta(hours=1)


class Phase(StrEnum):
    """The values are stored."""

    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"


@dataclass(frozen=True, slots=True)
class HoldTimes:
    """Times for which a verdict has to hold before the alert fires, and before it resolves."""

    fire: timedelta
    resolve: timedelta


@dataclass(frozen=True, slots=True)
class FiringState:
    phase: Phase = Phase.OK
    since: datetime | None = None  # first true verdict; None if OK
    clear_since: datetime | None = None  # first false verdict while firing
    last_data: datetime | None = None  # of the latest verdict


def advance(state: FiringState, observation: Observation, hold: HoldTimes) -> FiringState:
    """Return the state after an observation, which is later than those before.

    Without data the state stays as it is, for MAX_GAP at most.
    """
    time, verdict = observation.time, observation.is_true
    if verdict is None:
        if state.last_data is None or time - state.last_data < MAX_GAP:
            return state
        verdict = False
    else:
        state = replace(state, last_data=time)
    if verdict:
        return _advance_true(state, time, hold)
    if state.phase is not Phase.FIRING:
        return FiringState(last_data=state.last_data)
    clear_since = state.clear_since or time
    if time - clear_since >= hold.resolve:
        return FiringState(last_data=state.last_data)
    return replace(state, clear_since=clear_since)


def _advance_true(state: FiringState, time: datetime, hold: HoldTimes) -> FiringState:
    if state.phase is Phase.FIRING:
        return replace(state, clear_since=None)
    since = state.since or time
    phase = Phase.FIRING if time - since >= hold.fire else Phase.PENDING
    return replace(state, phase=phase, since=since, clear_since=None)


@dataclass(frozen=True, slots=True)
class Firing:
    """Time in which an alert fires."""

    start: datetime
    end: datetime | None  # None: it still fires
    extreme: float | None  # the value that is farthest from 0


def list_firings(observations: Iterable[Observation], hold: HoldTimes) -> Iterator[Firing]:
    """Yield the times in which an alert with these observations, in order of time, fires."""
    state, current = FiringState(), None
    for observation in observations:
        clear_since = state.clear_since
        state = advance(state, observation, hold)
        if state.phase is Phase.FIRING:
            current = current or Firing(observation.time, None, None)
            current = replace(current, extreme=_larger(current.extreme, observation.value))
        elif current is not None:
            yield replace(current, end=clear_since or observation.time)
            current = None
    if current is not None:
        yield current


def _larger(one: float | None, other: float | None) -> float | None:
    return max((each for each in (one, other) if each is not None), key=abs, default=None)
