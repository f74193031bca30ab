import random

import pytest

from flamewatch.transport.backoff import LONGEST, LONGEST_SERVER_DELAY, Backoff


def lower(low: float, high: float) -> float:
    return low


def upper(low: float, high: float) -> float:
    return high


def test_without_a_word_from_the_server_the_range_grows_to_an_hour() -> None:
    backoff = Backoff(upper)
    pauses = [backoff.next() for _ in range(40)]
    assert pauses[:3] == pytest.approx([60, 78, 101.4])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST


def test_guesses_are_spread_over_the_whole_range() -> None:
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


def test_success_begins_anew() -> None:
    backoff = Backoff(upper)
    backoff.next()
    backoff.next()
    backoff.succeed()
    assert backoff.next() == 60


def test_ten_thousand_failures_are_no_overflow() -> None:
    backoff = Backoff(upper)
    for _ in range(10_000):
        backoff.next()
    assert backoff.next() == LONGEST


def test_permanent_errors_are_retried_ever_more_seldom() -> None:
    backoff = Backoff(lower)
    pauses = [backoff.next_long(10.0) for _ in range(30)]
    assert pauses[0] == 30
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST / 2
    assert Backoff(lower).next_long(2000.0) == 2000
