"""The waiting room of this process, by the settings."""

from functools import cache

from django.conf import settings

from scheduler.waiting_room.in_process import InProcessRoom
from scheduler.waiting_room.interface import WaitingRoom
from scheduler.waiting_room.redis import RedisRoom


@cache
def room() -> WaitingRoom:
    places, capture_seconds = settings.WAITING_PER_DEPLOYMENT, settings.CAPTURE_SECONDS
    if settings.REDIS_URL:
        return RedisRoom(settings.REDIS_URL, places, capture_seconds)
    return InProcessRoom(places, capture_seconds)
