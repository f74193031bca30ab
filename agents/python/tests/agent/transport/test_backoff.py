import random

import pytest

from flamewatch.transport.backoff import LONGEST, LONGEST_SERVER_DELAY, Backoff


def lower(low: float, high: float) -> float:
    return low


def upper(low: float, high: float) -> float:
    return high


def test_without_a_server_delay_the_range_grows_to_an_hour() -> None:
    backoff = Backoff(upper)
    pauses = [backoff.next() for _ in range(40)]
    assert pauses[:3] == pytest.approx([60, 78, 101.4])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST


def test_first_delays_are_spread_from_0_to_60_seconds() -> None:
    dice = random.Random(7)
    pauses = [Backoff(dice.uniform).next() for _ in range(1000)]
    assert min(pauses) < 1
    assert max(pauses) > 59
    assert sum(pauses) / len(pauses) == pytest.approx(30, rel=0.1)


def test_the_servers_delay_is_never_shortened() -> None:
    assert Backoff(lower).next(33.0) == 33.0
    assert 33.0 < Backoff(upper).next(33.0) <= 33.0 * 1.1


def test_a_mistyped_delay_does_not_end_profiling() -> None:
    assert Backoff(lower).next(1e12) == LONGEST_SERVER_DELAY


def test_success_resets_the_delay() -> None:
    backoff = Backoff(upper)
    backoff.next()
    backoff.next()
    backoff.succeed()
    assert backoff.next() == 60


def test_delay_after_10000_failures_is_the_longest() -> None:
    backoff = Backoff(upper)
    for _ in range(10_000):
        backoff.next()
    assert backoff.next() == LONGEST


def test_permanent_errors_are_retried_with_growing_delays() -> None:
    backoff = Backoff(lower)
    pauses = [backoff.next_long(10.0) for _ in range(30)]
    assert pauses[0] == 30
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST / 2
    assert Backoff(lower).next_long(2000.0) == 2000
