"""Policy functions: properties for any input."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from projects.profile_types import ProfileType
from scheduler import policy
from scheduler.capture_requests import CaptureTarget

CPU, HEAP, PEAK_HEAP = ProfileType.CPU, ProfileType.HEAP, ProfileType.PEAK_HEAP
START = 1_800_000_000.0


def offer(deployment: int = 1, *types: ProfileType, project: int = 1) -> CaptureTarget:
    return CaptureTarget(project, deployment, frozenset(types or {CPU}), agents=1)


def test_a_rate_of_one_is_one_request_a_minute_for_each_deployment_and_type() -> None:
    offers = [offer(1, CPU, HEAP), offer(2, CPU)]
    planned = policy.plan_capture_requests(offers, {1: 1.0}, 60, START, "seed")
    assert Counter((request.deployment, request.type) for request in planned) == {
        (1, CPU): 1,
        (1, HEAP): 1,
        (2, CPU): 1,
    }


@given(rate=st.floats(0, 20), period=st.floats(1, 300), seed=st.text(max_size=5))
def test_every_time_lies_in_its_period(rate: float, period: float, seed: str) -> None:
    planned = policy.plan_capture_requests([offer()], {1: rate}, period, START, seed)
    assert all(START <= request.scheduled < START + period for request in planned)
    assert int(rate) <= len(planned) <= int(rate) + 1


def test_times_are_spread_evenly_over_the_period() -> None:
    planned = policy.plan_capture_requests(
        [offer(nth) for nth in range(6000)], {1: 1.0}, 60, START, "seed"
    )
    tenths = Counter(int((request.scheduled - START) // 6) for request in planned)
    # 600 are expected in each; six standard deviations are 139.
    assert all(461 < tenths[tenth] < 739 for tenth in range(10))


def test_fractional_rates_are_met_on_average() -> None:
    offers = [offer(nth) for nth in range(4000)]
    planned = policy.plan_capture_requests(offers, {1: 0.25}, 60, START, "seed")
    # 1,000 are expected; six standard deviations are 164.
    assert 836 < len(planned) < 1164
    more = policy.plan_capture_requests(offers, {1: 2.25}, 60, START, "seed")
    assert len(more) == 8000 + len(planned)


def test_peak_heap_is_never_requested() -> None:
    planned = policy.plan_capture_requests([offer(1, PEAK_HEAP, HEAP)], {1: 1.0}, 60, START, "seed")
    assert {request.type for request in planned} == {HEAP}


def test_a_project_without_a_rate_gets_no_requests() -> None:
    offers = [offer(1, CPU, project=1), offer(2, CPU, project=2)]
    assert policy.plan_capture_requests(offers, {1: 0.0}, 60, START, "seed") == []


def test_the_same_seed_gives_the_same_requests_beside_any_other_project() -> None:
    alone = policy.plan_capture_requests([offer(7)], {1: 2.5}, 60, START, "seed")
    among = policy.plan_capture_requests(
        [offer(nth) for nth in range(20)], {1: 2.5}, 60, START, "seed"
    )
    assert alone == [request for request in among if request.deployment == 7]


def test_another_seed_or_minute_gives_other_times() -> None:
    once = policy.plan_capture_requests([offer()], {1: 1.0}, 60, START, "seed")[0]
    other_seed = policy.plan_capture_requests([offer()], {1: 1.0}, 60, START, "another")[0]
    other_minute = policy.plan_capture_requests([offer()], {1: 1.0}, 60, START + 60, "seed")[0]
    assert len({once.scheduled % 60, other_seed.scheduled % 60, other_minute.scheduled % 60}) == 3
    assert once.id != other_minute.id


def chosen(history: dict[str, float], now: float, agents: str = "abcd") -> Counter[str]:
    rng = random.Random(1)
    draws = (policy.choose_agent(list(agents), history, now, rng) for _ in range(4000))
    return Counter(draws)


def test_agents_without_captures_are_chosen_equally_often() -> None:
    # 1,000 are expected for each; six standard deviations are 164.
    assert all(836 < count < 1164 for count in chosen({}, 100).values())


def test_a_longer_wait_makes_a_choice_likelier_but_not_certain() -> None:
    counts = chosen({"a": 0, "b": 20, "c": 50, "d": 60}, 100)
    assert counts["a"] > counts["b"] > counts["c"] > counts["d"] > 0


def test_an_agent_without_captures_counts_as_the_longest_waiting() -> None:
    counts = chosen({"a": 50, "b": 0}, 100, "abc")
    assert abs(counts["b"] - counts["c"]) < 300
    assert counts["a"] < counts["c"] / 4


@given(
    history=st.dictionaries(st.sampled_from("abcde"), st.floats(0, 200), max_size=5),
    seed=st.integers(0, 1000),
)
def test_chosen_agent_is_one_of_the_candidates(history: dict[str, float], seed: int) -> None:
    agents = ["a", "b", "c"]
    assert policy.choose_agent(agents, history, 100.0, random.Random(seed)) in agents


def test_agents_return_one_after_the_other() -> None:
    moment, times = 0.0, []
    for _ in range(100):
        moment = policy.next_return(moment, 1000.0, 32, 50)
        times.append(moment - 1000)
    spacing = policy.return_spacing(32, 50)
    assert times[0] == spacing
    assert abs(times[-1] - 100 * spacing) < 1e-6
    assert policy.next_return(moment, 5000.0, 32, 50) == 5000 + spacing


@given(returns_in=st.floats(0, 6e5), poll_timeout=st.floats(0.1, 300), seed=st.integers(0, 100))
def test_retry_delay_is_at_least_the_time_until_a_place_is_free(
    returns_in: float, poll_timeout: float, seed: int
) -> None:
    rng = random.Random(seed)
    assert policy.retry_after(returns_in, poll_timeout, rng) >= 0.9 * max(
        returns_in, poll_timeout / 2
    )
    assert 0 < policy.retry_at_once(poll_timeout, rng) <= poll_timeout / 50
    assert poll_timeout / 2 <= policy.retry_when_broken(poll_timeout, rng) <= poll_timeout


def test_retry_delays_fit_a_timer() -> None:
    assert policy.retry_after(1e9, 50, random.Random(1)) < 24 * 86_400


def test_agents_return_spread_out_after_a_stop() -> None:
    rng = random.Random(1)
    delays = sorted(policy.retry_when_stopping(5000, rng) for _ in range(5000))
    assert delays[0] >= 1
    assert max(Counter(int(delay) for delay in delays).values()) < 600
