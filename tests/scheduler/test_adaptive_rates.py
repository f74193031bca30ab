"""Adaptive capture rates: needs are met within bounds."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from projects.models import DayUsage, Deployment, Project, Quota
from projects.profile_types import ProfileType
from scheduler import policy
from scheduler.adaptive_rates import MAX_BUSY, AdaptiveProject, Rates, compute_adaptive_rates
from scheduler.capture_requests import CaptureTarget, busy_seconds
from scheduler.models import SampleNeed
from scheduler.rates import get_adaptive_rates

CPU, WALL, HEAP, PEAK_HEAP = (
    *(ProfileType.CPU, ProfileType.WALL),
    *(ProfileType.HEAP, ProfileType.PEAK_HEAP),
)
A_MINUTE = 1440.0  # profiles a day
SECONDS = 10.0


def target(deployment: int, *types: ProfileType, agents: int = 100) -> CaptureTarget:
    return CaptureTarget(1, deployment, frozenset(types or {CPU}), agents)


def adapt(
    targets: list[CaptureTarget],
    needs: dict[tuple[str, ProfileType], float],
    *,
    rate: float = 1.0,
    budget: float = 1e9,
) -> Rates:
    services = {each.deployment: "shop" for each in targets}
    return compute_adaptive_rates(targets, AdaptiveProject(rate, services, needs, budget), SECONDS)


def test_a_need_is_shared_by_the_deployments_of_the_service() -> None:
    rates = adapt([target(1), target(2)], {("shop", CPU): 6 * A_MINUTE})
    assert rates == {(1, CPU): pytest.approx(3), (2, CPU): pytest.approx(3)}


def test_rates_never_fall_below_that_of_the_project() -> None:
    assert adapt([target(1, CPU, HEAP)], {("shop", CPU): 0.2 * A_MINUTE}) == {}


def test_a_type_that_is_never_requested_gets_no_rate() -> None:
    assert adapt([target(1, PEAK_HEAP)], {("shop", PEAK_HEAP): 9 * A_MINUTE}) == {}


def test_a_project_whose_captures_are_off_stays_off() -> None:
    assert adapt([target(1)], {("shop", CPU): 9 * A_MINUTE}, rate=0.0) == {}


def test_agents_spend_half_of_their_time_with_captures_at_most() -> None:
    needs = {("shop", CPU): 99 * A_MINUTE, ("shop", WALL): 99 * A_MINUTE}
    rates = adapt([target(1, CPU, WALL, agents=4)], needs)
    busy = sum(rate * busy_seconds(kind, SECONDS) for (_, kind), rate in rates.items())
    assert busy == pytest.approx(MAX_BUSY * 4 * 60)


def test_an_agent_that_the_rate_of_the_project_keeps_busy_gets_no_more() -> None:
    assert adapt([target(1, agents=0)], {("shop", CPU): 99 * A_MINUTE}, rate=3.0) == {}


@given(
    agents=st.lists(st.integers(0, 50), min_size=1, max_size=6),
    need=st.floats(0, 1e6),
    rate=st.floats(0.1, 4),
    budget=st.floats(0, 500),
)
def test_budget_and_needs_are_not_exceeded(
    agents: list[int], need: float, rate: float, budget: float
) -> None:
    targets = [target(nth, CPU, HEAP, agents=number) for nth, number in enumerate(agents)]
    rates = adapt(targets, {("shop", CPU): need}, rate=rate, budget=budget)
    fixed = rate * 2 * len(agents)
    total = fixed + sum(each - rate for each in rates.values())
    assert total <= max(fixed, budget) * (1 + 1e-9)
    assert all(rate < each <= need / A_MINUTE / len(agents) * (1 + 1e-9) for each in rates.values())
    assert {kind for _, kind in rates} <= {CPU}


def test_plan_has_the_adaptive_rate_of_one_type_only() -> None:
    planned = policy.plan_capture_requests(
        [target(1, CPU, HEAP)], {1: 1.0}, 60, 0.0, "seed", {(1, CPU): 4.0}
    )
    assert sorted(request.type for request in planned) == [CPU, CPU, CPU, CPU, HEAP]


# -- From the database


def store_need(project: Project, profiles_a_day: float) -> CaptureTarget:
    now = timezone.now()
    deployment = Deployment.objects.create(
        project=project, service="shop", first_seen=now, last_seen=now
    )
    SampleNeed.objects.create(
        project=project, service="shop", type="CPU", profiles_a_day=profiles_a_day
    )
    return CaptureTarget(project.pk, deployment.pk, frozenset({CPU}), 100)


@pytest.mark.django_db
def test_only_projects_with_the_setting_adapt(project: Project, other_project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(adaptive_rate=True)
    targets = [store_need(each, 6 * A_MINUTE) for each in (project, other_project)]
    assert get_adaptive_rates(targets) == {(targets[0].deployment, CPU): pytest.approx(6)}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("quota", "most"),
    [
        ({"profiles_per_minute": 20}, 10),
        ({"profiles_per_day": 10 * 1440}, 5),
        # 1,000 bytes each, and ten days of them.
        ({"stored_bytes": 10 * 1440 * 8 * 1000, "retention_days": 10}, 4),
    ],
)
def test_half_of_a_quota_is_the_budget(project: Project, quota: dict[str, int], most: int) -> None:
    Project.objects.filter(pk=project.pk).update(adaptive_rate=True)
    Quota.objects.create(project=project, **quota)
    today = timezone.now().date()
    DayUsage.objects.create(project=project, day=today, profiles=50, stored_bytes=50_000)
    found = store_need(project, 99 * A_MINUTE)
    assert get_adaptive_rates([found]) == {(found.deployment, CPU): pytest.approx(most)}


@pytest.mark.django_db
def test_projects_without_the_setting_cost_one_statement(project: Project) -> None:
    found = store_need(project, 6 * A_MINUTE)
    with CaptureQueriesContext(connection) as queries:
        assert get_adaptive_rates([found]) == {}
    assert len(queries) == 1
