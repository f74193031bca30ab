"""Cooperative yielding of CPU time by long jobs to jobs of tenants that have used less of it.

The threads of a process share the GIL and a few cores, and neither gives precedence to anybody: a
query of 30 ms takes several times as long beside a merge of 10 s. Jobs of FairThreads that take
long therefore pause at their check points while a job of another tenant runs that has used much
less thread time lately. Native priorities of threads are no alternative: a thread of low priority
that waits for a core may hold the GIL.
"""

import time
from collections.abc import Callable, Hashable

from common.recent_costs import RecentCosts, costs_of_process

# An eighth of a small flame graph (40 ms): each look takes the GIL from the job that runs.
PAUSE_SECONDS = 0.005


class CooperativeYield:
    """Pauses of one job of a tenant, called by the job itself at its check points.

    The job pauses for at most half of its time since the first call, so that it advances however
    many other jobs there are.
    """

    def __init__(
        self,
        tenant: Hashable,
        costs: RecentCosts = costs_of_process,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tenant, self._costs, self._clock, self._sleep = tenant, costs, clock, sleep
        self._began: float | None = None
        self._paused = 0.0  # seconds

    def __call__(self) -> None:
        """Pause while a job of a tenant with less than half of the recent cost is running."""
        now = self._clock()
        if self._began is None:
            self._began = now
        while self._may_pause(now) and self._costs.is_cheaper_running(self._tenant, now):
            self._sleep(PAUSE_SECONDS)
            before, now = now, self._clock()
            self._paused += now - before

    def _may_pause(self, now: float) -> bool:
        return self._began is not None and 2 * self._paused < now - self._began
