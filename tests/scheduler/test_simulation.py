"""Simulation of the whole schedule over many seeds, on a virtual clock."""

from collections import Counter
from statistics import mean

import pytest

from projects.profile_types import INSTANTANEOUS, ProfileType
from tests.scheduler.fleet import CAPTURE, POLL_TIMEOUT, Capture, watch

TYPES = (ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP, ProfileType.THREADS)
ALL_TYPES = (*TYPES, ProfileType.CONTENTION, ProfileType.HEAP_ALLOC)
SEEDS = range(40)


def ten_minutes(agents: int, seed: int) -> list[Capture]:
    """Return the captures of ten minutes of a fleet that started two minutes before."""
    return watch(agents, TYPES, minutes=12, seed=seed).between(120, 720)


@pytest.fixture(scope="module")
def captures() -> list[list[Capture]]:
    return [ten_minutes(10, seed) for seed in SEEDS]


def test_ten_agents_give_ten_profiles_of_each_type_in_ten_minutes(
    captures: list[list[Capture]],
) -> None:
    for run in captures:
        by_type = Counter(capture.type for capture in run)
        # Request times are anywhere in their minute, so captures at the edges may fall outside.
        assert all(9 <= by_type[kind] <= 11 for kind in TYPES), by_type


def test_each_agent_gives_about_one_of_each_type(captures: list[list[Capture]]) -> None:
    times = [
        sum(capture.agent == f"agent-{nth}" and capture.type is kind for capture in run)
        for run in captures
        for kind in TYPES
        for nth in range(10)
    ]
    shares = {count: times.count(count) / len(times) for count in range(5)}
    # Distribution of 1,600 counts; independent draws would give 34 %, 41 %, 19 % and 7 % for 0, 1,
    # 2, and 3 or more. The standard deviation of these shares is at most 0.013.
    assert abs(mean(times) - 1) < 0.02
    assert shares[1] > 0.58
    assert shares[0] < 0.25
    assert shares[0] + shares[1] + shares[2] > 0.97


def test_every_request_is_claimed_at_its_time_while_agents_are_parked(
    captures: list[list[Capture]],
) -> None:
    assert all(capture.delay < 0.01 for run in captures for capture in run)


@pytest.mark.parametrize("agents", [1, 2])
def test_one_agent_captures_all_types_in_turn_and_no_request_expires(agents: int) -> None:
    logs = [watch(agents, ALL_TYPES, minutes=12, seed=seed) for seed in range(20)]
    assert sum(log.counts.expired for log in logs) <= 0.01 * sum(log.counts.claimed for log in logs)


def test_an_agent_captures_one_profile_at_a_time(captures: list[list[Capture]]) -> None:
    for seed in range(10):
        log = watch(1, ALL_TYPES, minutes=12, rate=1.5, seed=seed)
        for before, after in zip(log.captures, log.captures[1:], strict=False):
            least = 0 if before.type in INSTANTANEOUS else CAPTURE
            assert after.at - before.at >= least


@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_capture_rates_other_than_one_are_met(rate: float) -> None:
    counts = [
        len(watch(10, (ProfileType.CPU,), minutes=12, rate=rate, seed=seed).between(120, 720))
        for seed in SEEDS
    ]
    # At 0.2 a minute, 80 are expected in all, with a standard deviation of 8.
    assert abs(sum(counts) - 10 * rate * len(SEEDS)) < 0.3 * 10 * rate * len(SEEDS)


@pytest.mark.parametrize("agents", [33, 100, 1000])
def test_agents_over_the_parking_limit_capture_too(agents: int) -> None:
    log = watch(agents, (ProfileType.CPU,), minutes=90, seed=3)
    names = Counter(capture.agent for capture in log.captures)
    assert len(log.captures) >= 86
    # At most 88 captures by 88 different agents are possible; require 60 % of the maximum.
    assert len(names) > 0.6 * min(agents, 88)
    assert log.counts.waiting > 0.7 * 32


@pytest.mark.slow
def test_requests_a_minute_do_not_grow_with_the_number_of_agents() -> None:
    per_minute = {
        agents: watch(agents, TYPES, minutes=20, seed=1).requests_by_minute(20)[3:]
        for agents in (200, 2_000, 100_000)
    }
    # 32 handshakes are parked for 50 s and take two tries each: 77 a minute, plus agents that have
    # captured.
    most = {agents: mean(counts) for agents, counts in per_minute.items()}
    assert all(requests < 2 * 32 * 60 / POLL_TIMEOUT * 1.5 for requests in most.values()), most


def test_a_few_agents_stay_parked_and_handshake_once_a_poll_timeout() -> None:
    log = watch(10, (ProfileType.CPU,), minutes=20, rate=0, seed=1)
    assert mean(log.requests_by_minute(20)[1:]) <= 10 * 60 / POLL_TIMEOUT
    assert log.counts.waiting >= 9
