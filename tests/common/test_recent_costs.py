"""Recent cost of tenants in thread seconds."""

import pytest

from common.recent_costs import RecentCosts


def used(costs: RecentCosts, tenant: str, seconds: float, until: float) -> None:
    costs.begin(tenant, until - seconds)
    costs.end(tenant, until - seconds, until)


def test_a_second_counts_half_after_the_half_life() -> None:
    costs = RecentCosts(half_life=60)
    used(costs, "A", 8, until=100)
    assert costs.get("A", 100) == pytest.approx(8)
    assert costs.get("A", 160) == pytest.approx(4)
    used(costs, "A", 1, until=160)
    assert costs.get("A", 220) == pytest.approx(2.5)
    assert costs.get("B", 220) == 0


def test_running_jobs_count_from_their_start() -> None:
    costs = RecentCosts()
    costs.begin("A", 10)
    costs.begin("A", 12)
    assert costs.get("A", 15) == pytest.approx(5 + 3)
    costs.end("A", 10, 15)
    assert costs.get("A", 15) == pytest.approx(5 + 3)
    costs.end("A", 12, 15)
    assert costs.get("A", 15) == pytest.approx(5 + 3)


def test_time_that_a_job_only_waited_is_taken_back() -> None:
    costs = RecentCosts(half_life=60)
    costs.begin("A", 0)
    costs.add("A", 2 - 10, 10)
    costs.end("A", 0, 10)
    assert costs.get("A", 10) == pytest.approx(2)
    costs.add("B", 3, 10)
    assert costs.get("B", 70) == pytest.approx(1.5)


def test_tenants_over_the_size_are_evicted_except_running_ones() -> None:
    costs = RecentCosts(size=3)
    costs.begin("running", 0)
    for nth in range(10):
        used(costs, f"{nth}", 1, until=10 + nth)
    assert len(costs) == 3
    assert costs.get("9", 19) == pytest.approx(1)
    assert costs.get("0", 19) == 0
    costs.end("running", 0, 20)
    assert costs.get("running", 20) == pytest.approx(20)
