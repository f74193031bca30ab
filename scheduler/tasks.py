"""Celery tasks of the scheduler."""

import time
from collections.abc import Mapping

from celery import shared_task
from django.conf import settings

from common import heartbeats
from common.heartbeats import Heartbeat
from projects.profile_types import ProfileType
from scheduler import policy
from scheduler.capture_requests import CaptureRequest, CaptureTarget
from scheduler.long_poll import queue_of_process
from scheduler.rates import get_adaptive_rates, get_rates

_HORIZON = 1.5  # periods to plan ahead: half a period more than one, if the next run is late


@shared_task(name="scheduler.tasks.plan")
def plan() -> None:
    """Add the upcoming capture requests to the long-poll queue. Idempotent."""
    queue_of_process().add_requests(plan_now())
    heartbeats.note(Heartbeat.PLAN)


def plan_now() -> list[CaptureRequest]:
    """Plan the upcoming capture requests for the agents in the long-poll queue."""
    targets = queue_of_process().targets()
    rates = get_rates(target.project for target in targets)
    # Rates per minute serve as rates per period: the period is a minute except in tests.
    adaptive = get_adaptive_rates(targets)
    return upcoming_requests(targets, rates, settings.PLAN_PERIOD_SECONDS, time.time(), adaptive)


def upcoming_requests(
    targets: list[CaptureTarget],
    rates: dict[int, float],
    period: float,
    now: float,
    adaptive: Mapping[tuple[int, ProfileType], float] | None = None,
) -> list[CaptureRequest]:
    """Return the capture requests from `now` until 1.5 periods later.

    Periods start at multiples of their length in Unix time, independent of when Celery beat runs
    the task, so that every run plans the same requests with the same ids.
    """
    horizon = now + _HORIZON * period
    this = now // period * period
    both = [
        request
        for start in (this, this + period)
        for request in policy.plan_capture_requests(
            targets, rates, period, start, settings.SECRET_KEY, adaptive
        )
    ]
    return [request for request in both if now <= request.scheduled < horizon]
