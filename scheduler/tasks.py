"""What Celery runs for the scheduler."""

import time

from celery import shared_task
from django.conf import settings

from scheduler import policy
from scheduler.capture_requests import CaptureRequest, Offer
from scheduler.long_poll import queue_of_process
from scheduler.rates import rates_of

_HORIZON = 1.5  # periods: half a one for a plan that comes late


@shared_task(name="scheduler.tasks.plan")
def plan() -> None:
    """Add the coming slots to the room; running it again, or late, adds nothing twice."""
    queue_of_process().add_slots(plan_now())


def plan_now() -> list[CaptureRequest]:
    offers = queue_of_process().offers()
    rates = rates_of(offer.project for offer in offers)
    # Slots a period: the period is the schedule's minute, and only tests have shorter ones.
    return upcoming_requests(offers, rates, settings.PLAN_PERIOD_SECONDS, time.time())


def upcoming_requests(
    offers: list[Offer], rates: dict[int, float], period: float, now: float
) -> list[CaptureRequest]:
    """Those from now on until the next plan has surely run.

    Periods are cut at fixed moments, wherever in them beat happens to be, so that every plan sees
    the same slots and ids.
    """
    horizon = now + _HORIZON * period
    this = now // period * period
    both = [
        slot
        for start in (this, this + period)
        for slot in policy.plan_capture_requests(offers, rates, period, start, settings.SECRET_KEY)
    ]
    return [slot for slot in both if now <= slot.moment < horizon]
