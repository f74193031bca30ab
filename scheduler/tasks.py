"""Celery tasks of the scheduler."""

import time

from celery import shared_task
from django.conf import settings

from scheduler import policy
from scheduler.capture_requests import CaptureRequest, Offer
from scheduler.long_poll import queue_of_process
from scheduler.rates import rates_of

_HORIZON = 1.5  # periods to plan ahead: half a period more than one, if the next run is late


@shared_task(name="scheduler.tasks.plan")
def plan() -> None:
    """Add the upcoming capture requests to the long-poll queue. Idempotent."""
    queue_of_process().add_slots(plan_now())


def plan_now() -> list[CaptureRequest]:
    """Plan the upcoming capture requests for the agents in the long-poll queue."""
    offers = queue_of_process().offers()
    rates = rates_of(offer.project for offer in offers)
    # Rates per minute serve as rates per period: the period is a minute except in tests.
    return upcoming_requests(offers, rates, settings.PLAN_PERIOD_SECONDS, time.time())


def upcoming_requests(
    offers: list[Offer], rates: dict[int, float], period: float, now: float
) -> list[CaptureRequest]:
    """Return the capture requests from `now` until 1.5 periods later.

    Periods start at multiples of their length in Unix time, independent of when Celery beat runs
    the task, so that every run plans the same requests with the same ids.
    """
    horizon = now + _HORIZON * period
    this = now // period * period
    both = [
        slot
        for start in (this, this + period)
        for slot in policy.plan_capture_requests(offers, rates, period, start, settings.SECRET_KEY)
    ]
    return [slot for slot in both if now <= slot.moment < horizon]
