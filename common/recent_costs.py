"""Thread seconds that tenants have used lately, for a fair order of their jobs."""

import math
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

# A thread second counts half after this time: three of the longest queries (20 s). Shorter, and a
# project is forgiven its query before its next one; longer, and it pays for a burst for minutes.
HALF_LIFE_SECONDS = 60.0
MOST_TENANTS = 10_000


@dataclass(slots=True)
class _Account:
    """Cost of one tenant: of ended jobs at the time `charged`, and of running ones."""

    ended: float = 0.0
    charged: float = 0.0
    running: int = 0
    started: float = 0.0  # Σ of the start times of running jobs


class RecentCosts:
    """Recent cost of each tenant in thread seconds, with exponential decay. Thread-safe.

    It reads no clock: callers pass `now` in seconds, always of the same clock. Of more than `size`
    tenants, those without running jobs that were charged longest ago are forgotten.
    """

    def __init__(self, half_life: float = HALF_LIFE_SECONDS, size: int = MOST_TENANTS) -> None:
        self._half_life, self._size = half_life, size
        self._accounts: OrderedDict[Hashable, _Account] = OrderedDict()  # by last change
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._accounts)

    def begin(self, tenant: Hashable, now: float) -> None:
        """Count a job from now on, also before it has ended."""
        with self._lock:
            account = self._accounts.setdefault(tenant, _Account(charged=now))
            account.running += 1
            account.started += now
            self._accounts.move_to_end(tenant)

    def end(self, tenant: Hashable, started: float, now: float) -> None:
        """Charge a job that has begun at `started`."""
        with self._lock:
            account = self._accounts[tenant]
            account.running -= 1
            account.started = account.started - started if account.running else 0.0
            account.ended = self._decay(account, now) + now - started
            account.charged = now
            self._accounts.move_to_end(tenant)
            self._forget_oldest()

    def add(self, tenant: Hashable, seconds: float, now: float) -> None:
        """Charge seconds besides the time of jobs, or take some of that back."""
        with self._lock:
            account = self._accounts.setdefault(tenant, _Account(charged=now))
            account.ended = self._decay(account, now) + seconds
            account.charged = now

    def get(self, tenant: Hashable, now: float) -> float:
        """Return the recent cost of a tenant, its running jobs included."""
        with self._lock:
            account = self._accounts.get(tenant)
            if account is None:
                return 0.0
            return self._decay(account, now) + account.running * now - account.started

    def _decay(self, account: _Account, now: float) -> float:
        return account.ended * math.exp2((account.charged - now) / self._half_life)

    def _forget_oldest(self) -> None:
        """Forget an idle tenant among the oldest ones; busy ones are as many as threads."""
        if len(self._accounts) <= self._size:
            return
        oldest = (tenant for tenant, account in self._accounts.items() if not account.running)
        tenant = next(oldest, None)
        if tenant is not None:
            del self._accounts[tenant]


# Shared by all pools of the process: the cost of one kind of work counts for every other.
costs_of_process = RecentCosts()
