"""Agents of a project over its quota: they return soon, but never as a storm."""

import heapq
import itertools
import time

import pytest
from pytest_django import Settings

from ingest.cloud_profiler import quota_back_off
from profiles.models import Profile
from projects.models import Project, Quota
from projects.usage.limits import LimitName
from projects.usage.quota_reached import QuotaReached
from tests.ingest.client import Client, assert_error_response

LONGEST_RETURN = 60.0  # seconds; a minute less than the two after which an agent has to be back
MAX_PARKED = 32  # FLAMEWATCH_MAX_PARKED_PER_DEPLOYMENT


def retry_delay(error: dict[str, object]) -> float:
    (delay,) = (d["retryDelay"] for d in error["details"] if "retryDelay" in d)  # type: ignore[attr-defined]
    return float(delay.removesuffix("s"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", ["profiles_per_day", "stored_bytes", "new_deployments_per_day"])
def test_handshake_over_quota_returns_within_a_minute(
    limit: str, agent: Client, project: Project, settings: Settings
) -> None:
    settings.POLL_TIMEOUT_SECONDS = 600.0
    Quota.objects.create(project=project, **{limit: 0})
    error = assert_error_response(agent.handshake(), 429, "RESOURCE_EXHAUSTED", limit)
    assert 10 < retry_delay(error) < LONGEST_RETURN


@pytest.mark.django_db(transaction=True)
def test_upload_over_quota_returns_within_two_minutes(agent: Client, project: Project) -> None:
    name = agent.captured_request()["name"]
    Quota.objects.create(project=project, profiles_per_day=0)
    error = assert_error_response(agent.upload(name), 429, "RESOURCE_EXHAUSTED", "profiles_per_day")
    assert retry_delay(error) <= 90


@pytest.mark.django_db(transaction=True)
def test_first_handshake_after_a_raise_gets_a_capture_request(
    agent: Client, project: Project
) -> None:
    assert agent.upload(agent.captured_request()["name"]).status_code == 200
    quota = Quota.objects.create(project=project, profiles_per_day=1)
    assert_error_response(agent.handshake(), 429, "RESOURCE_EXHAUSTED", "profiles_per_day")
    quota.profiles_per_day = 2
    quota.save()
    assert agent.upload(agent.captured_request()["name"]).status_code == 200
    assert Profile.objects.count() == 2


@pytest.mark.parametrize("agents", [1, 32, 5000])
def test_fleet_over_quota_handshakes_no_more_often_than_at_a_full_queue(
    agents: int, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """Simulate an hour over quota; after it as many agents return in a minute as may be parked."""
    settings.POLL_TIMEOUT_SECONDS, settings.MAX_PARKED_PER_DEPLOYMENT = 50.0, MAX_PARKED
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    reached = QuotaReached(LimitName.PROFILES_PER_DAY, 1, 20_000.0)
    order = itertools.count()
    returns = [(now[0] + number / agents, next(order)) for number in range(agents)]
    heapq.heapify(returns)
    hour_starts, handshakes = now[0] + 60, 0
    while returns[0][0] < hour_starts + 3600:
        now[0], _ = heapq.heappop(returns)
        handshakes += now[0] >= hour_starts
        delay = quota_back_off.back_off(reached, 1, 1).retry_after
        assert delay is not None
        heapq.heappush(returns, (now[0] + delay, next(order)))
    most_per_second = 2 * MAX_PARKED / quota_back_off.LONGEST_POLL_SECONDS
    assert handshakes <= 1.1 * most_per_second * 3600
    raised = hour_starts + 3600
    back = sum(at <= raised + LONGEST_RETURN for at, _ in returns)
    assert back >= min(agents, MAX_PARKED)
