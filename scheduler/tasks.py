"""What Celery runs for the scheduler."""

import time

from celery import shared_task
from django.conf import settings

from scheduler import policy
from scheduler.rates import rates_of
from scheduler.slots import Offer, Slot
from scheduler.waiting_room import room

_HORIZON = 1.5  # periods: half a one for a plan that comes late


@shared_task(name="scheduler.tasks.plan")
def plan() -> None:
    """Add the coming slots to the room; running it again, or late, adds nothing twice."""
    room().add_slots(planned_now())


def planned_now() -> list[Slot]:
    offers = room().offers()
    rates = rates_of(offer.project for offer in offers)
    # Slots a period: the period is the schedule's minute, and only tests have shorter ones.
    return coming_slots(offers, rates, settings.PLAN_PERIOD_SECONDS, time.time())


def coming_slots(
    offers: list[Offer], rates: dict[int, float], period: float, now: float
) -> list[Slot]:
    """Those from now on until the next plan has surely run.

    Periods are cut at fixed moments, wherever in them beat happens to be, so that every plan sees
    the same slots and ids.
    """
    horizon = now + _HORIZON * period
    this = now // period * period
    both = [
        slot
        for start in (this, this + period)
        for slot in policy.plan_slots(offers, rates, period, start, settings.SECRET_KEY)
    ]
    return [slot for slot in both if now <= slot.moment < horizon]
