"""Back-off of agents whose project is over a quota: short, because a quota may be raised any time.

Handshakes of a deployment are spaced as if its long-poll queue were full: 1.3 a second at most for
32 parked agents and a poll timeout of 50 s, however many agents it has. They cost no SQL.
"""

import random
import time

from django.conf import settings

from common.cache import Cache
from projects.usage.quota_reached import QuotaReached
from scheduler import policy

# The first agents of a deployment return after half of it, also with a longer poll timeout.
LONGEST_POLL_SECONDS = 50.0
_MOST_DEPLOYMENTS = 50_000
_NEW_DEPLOYMENTS = 0  # instead of Deployment.pk, for all that may not be registered today

_rng = random.Random()  # noqa: S311  not a secret
# By (Project.pk, Deployment.pk): policy.next_return of the last agent that was sent away.
_returns: Cache[tuple[int, int], float] = Cache(size=_MOST_DEPLOYMENTS)


def back_off(
    reached: QuotaReached, project: int, deployment: int = _NEW_DEPLOYMENTS
) -> QuotaReached:
    """Return the error of a handshake, with the time until the agent should return."""
    poll_timeout = min(settings.POLL_TIMEOUT_SECONDS, LONGEST_POLL_SECONDS)
    key, now = (project, deployment), time.time()
    returns = policy.next_return(
        _returns.get(key) or 0.0, now, settings.MAX_PARKED_PER_DEPLOYMENT, poll_timeout
    )
    _returns.put(key, returns)
    delay = policy.retry_after(returns - now, poll_timeout, _rng)
    return QuotaReached(reached.limit, reached.allowed, reached.resets_in, retry_after=delay)


def is_over(project: int, deployment: int) -> bool:
    """Return True once for a deployment whose agents were sent away and may continue."""
    key = (project, deployment)
    if _returns.get(key) is None:
        return False
    _returns.delete(key)
    return True
