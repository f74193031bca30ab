"""Long-poll queue of agents that wait for capture requests."""

from functools import cache

from django.conf import settings

from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import LongPollQueue
from scheduler.long_poll.redis import RedisQueue


@cache
def queue_of_process() -> LongPollQueue:
    """Return the queue of this process: in Redis if settings.REDIS_URL is set, else in memory."""
    max_parked, capture_seconds = settings.MAX_PARKED_PER_DEPLOYMENT, settings.CAPTURE_SECONDS
    if settings.REDIS_URL:
        return RedisQueue(settings.REDIS_URL, max_parked, capture_seconds)
    return InProcessQueue(max_parked, capture_seconds)
