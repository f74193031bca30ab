"""States of an alert over observations: it fires after its time, once, and resolves."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from alerts.conditions.firing import (
    Firing,
    FiringState,
    HoldTimes,
    Phase,
    advance,
    list_firings,
)
from alerts.conditions.observation import Observation

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOLD = HoldTimes(fire=3 * MINUTE, resolve=2 * MINUTE)
VERDICTS = {"x": True, ".": False, " ": None}
PHASES = {Phase.OK: ".", Phase.PENDING: "p", Phase.FIRING: "F"}


def observations(text: str, values: Sequence[float] = ()) -> list[Observation]:
    """Return an observation a minute: x is true, a dot false, a space without data."""
    return [
        Observation(START + number * MINUTE, values[number] if values else None, VERDICTS[each])
        for number, each in enumerate(text)
    ]


def phases(text: str, hold: HoldTimes = HOLD) -> str:
    state, found = FiringState(), ""
    for each in observations(text):
        state = advance(state, each, hold)
        found += PHASES[state.phase]
    return found


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (".xxxxx", ".pppFF"),
        (".xx.xxxx", ".pp.pppF"),  # a false verdict ends the wait
        (".xx xx", ".pppFF"),  # without data the wait goes on
        ("xxxx.xx", "pppFFFF"),  # one false verdict does not resolve it
        ("xxxx...", "pppFFF."),
        ("xxxx. ..", "pppFFF.."),
        ("xxxx      ", "pppFFFFFFF"),  # one missing profile neither
        ("   ", "..."),
    ],
)
def test_phases(verdicts: str, expected: str) -> None:
    assert phases(verdicts) == expected


def test_without_hold_times_the_verdict_is_the_phase() -> None:
    assert phases("x.x", HoldTimes(timedelta(), timedelta())) == "F.F"


def test_alert_of_a_service_that_is_gone_resolves() -> None:
    found = phases("xxxx" + " " * 70)
    # An hour after the last data, and the hold time.
    assert found == "ppp" + "F" * 62 + "." * 9


def test_pending_alert_of_a_service_that_is_gone_ends() -> None:
    assert phases("x" + " " * 62)[58:] == "pp..."


def test_firings_with_their_times_and_largest_values() -> None:
    text = "xxxxx...xxxx"
    values = [float(each) for each in range(12)]
    assert list(list_firings(observations(text, values), HOLD)) == [
        Firing(START + 3 * MINUTE, START + 5 * MINUTE, 6.0),
        Firing(START + 11 * MINUTE, None, 11.0),
    ]


def test_no_firing() -> None:
    assert list(list_firings(observations("..xx.."), HOLD)) == []
