"""Pauses of long jobs for jobs of tenants with less recent cost."""

from collections.abc import Callable

import pytest

from common.cooperative_yield import PAUSE_SECONDS, CooperativeYield
from common.recent_costs import RecentCosts


class SleepingClock:
    """Time that advances while a job sleeps, and calls that follow some of its sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0
        self.events: dict[int, Callable[[], None]] = {}  # by number of the sleep

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += 1
        self.events.pop(self.slept, lambda: None)()


def job_of(tenant: str, costs: RecentCosts, clock: SleepingClock) -> CooperativeYield:
    """Return the pauses of a job that has run for a second since its first check."""
    pause = CooperativeYield(tenant, costs, clock=lambda: clock.now, sleep=clock.sleep)
    costs.begin(tenant, clock.now)
    pause()
    clock.now += 1
    return pause


def test_a_job_pauses_until_cheaper_jobs_of_others_have_ended() -> None:
    clock, costs = SleepingClock(), RecentCosts()
    pause = job_of("heavy", costs, clock)
    started = clock.now
    costs.begin("quiet", started)
    clock.events[3] = lambda: costs.end("quiet", started, clock.now)
    pause()
    assert clock.slept == 3


def test_a_job_does_not_pause_alone_nor_for_its_own_tenant_or_more_expensive_ones() -> None:
    clock, costs = SleepingClock(), RecentCosts()
    pause = job_of("heavy", costs, clock)
    pause()
    costs.begin("heavy", clock.now)
    pause()
    costs.begin("expensive", clock.now - 2)
    pause()
    assert clock.slept == 0


def test_a_job_pauses_for_at_most_half_of_its_time() -> None:
    clock, costs = SleepingClock(), RecentCosts()
    costs.begin("heavy", clock.now - 1000)  # an earlier job, expensive enough for all of the test
    pause = job_of("heavy", costs, clock)
    costs.begin("quiet", clock.now)
    pause()
    # As long as it has worked.
    assert clock.slept * PAUSE_SECONDS == pytest.approx(1, abs=2 * PAUSE_SECONDS)
    before, clock.now = clock.slept, clock.now + 4 * PAUSE_SECONDS
    pause()
    assert clock.slept == before + 4
