"""Long-poll queue in memory, for a server of one process.

State changes only on the event loop. Other threads read snapshots (`list` of a dict is atomic under
the GIL) or hand their changes to the loop.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from projects.profile_types import ProfileType
from scheduler import capture_requests, policy
from scheduler.capture_requests import CaptureRequest, RequestOrigin
from scheduler.long_poll.deployment_queue import DeploymentQueue, ParkedHandshake
from scheduler.long_poll.interface import (
    AgentActivity,
    Assignment,
    BackOff,
    CaptureTarget,
    QueueCounts,
    Waiter,
)

_SWEEP_SECONDS = 60.0


class InProcessQueue:
    """Long-poll queue of a single process; implements LongPollQueue."""

    def __init__(
        self,
        max_parked: int,
        capture_seconds: float,
        *,
        clock: Callable[[], float] = time.time,
        rng: policy.Rng | None = None,
    ) -> None:
        """`max_parked` limits the parked handshakes of a deployment.

        `capture_seconds` is the duration of a capture; `clock` returns Unix time in seconds.
        """
        self._max_parked, self._capture_seconds = max_parked, capture_seconds
        self._clock, self._rng = clock, rng or random.SystemRandom()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[CaptureRequest] = []  # requests added before `open`
        self._lock = threading.Lock()  # guards _loop and _early
        self._queues: dict[int, DeploymentQueue] = {}
        self._parked: Counter[int] = Counter()  # parked handshakes by project, without zeros
        self._returns: dict[int, float] = {}  # policy.next_return by project over its quota
        self._added_ids: dict[str, float] = {}  # request ids, with the time to forget them
        self._swept = 0.0
        self._made = self._claimed = self._expired = 0
        self._stopping = False

    # -- agents ---------------------------------------------------------------------------

    async def wait(self, waiter: Waiter, poll_timeout: float) -> Assignment | BackOff:
        await self.open()
        if self._stopping:
            return BackOff(policy.retry_when_stopping(parked=0, rng=self._rng))
        now = self._clock()
        queue = self._get_queue(waiter.deployment, waiter.project)
        queue.record_offers(waiter, now)
        if request := queue.find_request(waiter, now):
            return self._claim(queue, request, waiter.agent)
        if len(queue.waiting) >= self._max_parked:
            return self._back_off(queue, poll_timeout)
        if self._is_over_quota(waiter):
            return BackOff(self._retry_over_quota(waiter, poll_timeout), over_quota=True)
        return await self._park(queue, waiter, poll_timeout)

    async def _park(
        self, queue: DeploymentQueue, waiter: Waiter, poll_timeout: float
    ) -> Assignment | BackOff:
        """Park a handshake until it gets a response."""
        loop = asyncio.get_running_loop()
        parked = ParkedHandshake(waiter, loop.create_future())
        queue.waiting[parked] = None
        self._parked[waiter.project] += 1
        timer = loop.call_later(poll_timeout, self._time_out, queue, parked, poll_timeout)
        if queue.busy_until(waiter.agent) > self._clock():
            self._serve(queue, parked)
        try:
            return await parked.response
        except asyncio.CancelledError:
            self._remove_cancelled(queue, parked)
            raise
        finally:
            timer.cancel()
            self._remove(queue, parked)

    def _remove(self, queue: DeploymentQueue, parked: ParkedHandshake) -> None:
        """Remove a handshake from the queue, unless that has happened already."""
        if parked not in queue.waiting:
            return
        del queue.waiting[parked]
        project = parked.waiter.project
        self._parked[project] -= 1
        if not self._parked[project]:
            del self._parked[project]

    def _remove_cancelled(self, queue: DeploymentQueue, parked: ParkedHandshake) -> None:
        """Remove a cancelled handshake, and offer a request that it had just claimed to others."""
        self._remove(queue, parked)
        if parked.response.cancelled() or not parked.response.done():
            return
        response = parked.response.result()
        if isinstance(response, Assignment):
            queue.unassign(response.request, parked.waiter.agent)
            self._open_request(response.request)

    def _time_out(
        self, queue: DeploymentQueue, parked: ParkedHandshake, poll_timeout: float
    ) -> None:
        """Respond at the poll timeout: retry at once, or later without room or quota."""
        if len(queue.waiting) >= self._max_parked:
            self._respond(queue, parked, self._back_off(queue, poll_timeout))
        elif self._is_over_quota(parked.waiter):  # others that back off have a turn
            retry_after = self._retry_over_quota(parked.waiter, poll_timeout)
            self._respond(queue, parked, BackOff(retry_after))
        else:
            back_off = BackOff(policy.retry_at_once(poll_timeout, self._rng))
            self._respond(queue, parked, back_off)

    def _back_off(self, queue: DeploymentQueue, poll_timeout: float) -> BackOff:
        """Return a back-off for an agent that finds the queue of its deployment full."""
        now = self._clock()
        queue.returns = policy.next_return(queue.returns, now, self._max_parked, poll_timeout)
        return BackOff(policy.retry_after(queue.returns - now, poll_timeout, self._rng))

    def _is_over_quota(self, waiter: Waiter) -> bool:
        """Return True if the project has as many parked handshakes as it may have."""
        return self._parked[waiter.project] >= waiter.project_quota

    def _retry_over_quota(self, waiter: Waiter, poll_timeout: float) -> float:
        """Return the back-off of an agent whose project is over its quota."""
        now, quota = self._clock(), max(1, waiter.project_quota)
        returns = self._returns.get(waiter.project, 0.0)
        returns = policy.next_return(returns, now, quota, poll_timeout)
        self._returns[waiter.project] = returns
        return policy.retry_after(returns - now, poll_timeout, self._rng)

    def _serve(self, queue: DeploymentQueue, parked: ParkedHandshake) -> None:
        """Give a parked agent the most urgent request, once the agent is no longer busy.

        An agent may return before the estimated end of its capture.
        """
        if parked.response.done():
            return
        left = queue.busy_until(parked.waiter.agent) - self._clock()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._serve, queue, parked)
        elif request := queue.find_request(parked.waiter, self._clock()):
            self._respond(queue, parked, self._claim(queue, request, parked.waiter.agent))

    def _respond(
        self, queue: DeploymentQueue, parked: ParkedHandshake, response: Assignment | BackOff
    ) -> None:
        """Complete a parked handshake, unless it is completed or cancelled already."""
        self._remove(queue, parked)
        if not parked.response.done():
            parked.response.set_result(response)

    def _claim(self, queue: DeploymentQueue, request: CaptureRequest, agent: str) -> Assignment:
        """Assign a request to an agent, which is busy from now on."""
        if found := queue.pending.pop(request.id, None):
            found[1].cancel()
        now = self._clock()
        busy = capture_requests.busy_seconds(request.type, self._capture_seconds)
        queue.assign(request, agent, now, now + busy)
        self._claimed += 1
        return Assignment(request)

    # -- capture requests -----------------------------------------------------------------

    def add_requests(self, requests: Sequence[CaptureRequest]) -> None:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._early.extend(requests)
            else:
                self._loop.call_soon_threadsafe(self._add, list(requests))

    def _add(self, added: Sequence[CaptureRequest]) -> None:
        now = self._clock()
        self._sweep(now)
        loop = asyncio.get_running_loop()
        for request in added:
            if request.id not in self._added_ids:
                self._added_ids[request.id] = request.scheduled + capture_requests.ID_SECONDS
                self._made += 1
                loop.call_later(max(0.0, request.scheduled - now), self._open_request, request)

    def _open_request(self, request: CaptureRequest) -> None:
        """Give a request to a parked agent at its scheduled time, or make it pending."""
        now = self._clock()
        queue = self._get_queue(request.deployment, request.project)
        candidates = queue.candidates(request, now)
        if candidates:
            history = queue.history(request.type)
            agent = policy.choose_agent(list(candidates), history, now, self._rng)
            self._respond(queue, candidates[agent], self._claim(queue, request, agent))
        else:
            left = max(0.0, capture_requests.expiry_time(request) - now)
            timer = asyncio.get_running_loop().call_later(left, self._expire, queue, request)
            queue.pending[request.id] = request, timer

    def _expire(self, queue: DeploymentQueue, request: CaptureRequest) -> None:
        """Drop a pending request and count it as expired."""
        del queue.pending[request.id]
        self._expired += 1

    def _get_queue(self, deployment: int, project: int) -> DeploymentQueue:
        """Return the queue of a deployment; create it if necessary."""
        queue = self._queues.get(deployment)
        if queue is None:
            queue = self._queues[deployment] = DeploymentQueue(project)
        return queue

    def _sweep(self, now: float) -> None:
        """Forget old request ids and idle deployments, at most once a minute."""
        if now - self._swept < _SWEEP_SECONDS:
            return
        self._swept = now
        self._added_ids = {
            request: until for request, until in self._added_ids.items() if until > now
        }
        self._queues = {key: queue for key, queue in self._queues.items() if not queue.is_idle(now)}
        self._returns = {key: until for key, until in self._returns.items() if until > now}

    # -- queries from other threads -------------------------------------------------------

    def targets(self) -> list[CaptureTarget]:
        now = self._clock()
        found = [
            CaptureTarget(queue.project, deployment, queue.types(now), len(queue.waiting))
            for deployment, queue in list(self._queues.items())
        ]
        return [target for target in found if target.types]

    def count_user_requests(self, deployment: int, kind: ProfileType) -> int:
        queue = self._queues.get(deployment)
        waiting = list(queue.pending.values()) if queue else []
        return sum(
            request.type is kind and request.origin is RequestOrigin.PERSON
            for request, _ in waiting
        )

    def activities(self, agents: Sequence[tuple[int, str]]) -> list[AgentActivity]:
        now = self._clock()
        return [self._activity(deployment, agent, now) for deployment, agent in agents]

    def _activity(self, deployment: int, agent: str, now: float) -> AgentActivity:
        queue = self._queues.get(deployment)
        if queue is None:
            return AgentActivity(waiting=False, capturing_for=0.0)
        return AgentActivity(queue.has_parked(agent), max(0.0, queue.busy_until(agent) - now))

    def counts(self) -> QueueCounts:
        waiting = sum(len(queue.waiting) for queue in list(self._queues.values()))
        return QueueCounts(waiting, self._made, self._claimed, self._expired)

    # -- start and end --------------------------------------------------------------------

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        with self._lock:
            self._loop = loop
            early, self._early = self._early, []
        # Handshakes parked on an earlier event loop ended with it.
        self._queues, self._added_ids, self._stopping = {}, {}, False
        self._parked, self._returns = Counter(), {}
        self._add(early)

    async def close(self) -> None:
        self._stopping = True
        all_parked = [
            (queue, parked) for queue in self._queues.values() for parked in queue.waiting
        ]
        for queue, parked in all_parked:
            back_off = BackOff(policy.retry_when_stopping(len(all_parked), self._rng))
            self._respond(queue, parked, back_off)
