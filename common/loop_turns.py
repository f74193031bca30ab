"""Fair order of requests on the event loop, which they use for about a millisecond each.

Hundreds of requests that arrive at once would otherwise run one after the other, and a request of
another tenant would wait for all of them. Here at most STEPS_PER_TURN start in each turn of the
loop, of the tenants in rotation, and the loop reads from its sockets between two turns.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Hashable

# About 2 ms: a handshake has three steps, which take 0.2 to 0.6 ms each. Fewer would add the cost
# of a turn (20 µs, and the wait for the GIL while other threads run) to more of the steps.
STEPS_PER_TURN = 4


class LoopTurns:
    """Queue of coroutines that wait for a turn of the event loop. Not thread-safe.

    It belongs to the loop that used it last; what waited on another one is forgotten.
    """

    def __init__(self, steps: int = STEPS_PER_TURN) -> None:
        self._steps = steps
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = 0  # steps in the current turn
        # The tenant that was served last is the last one; there are no empty queues.
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    async def wait(self, tenant: Hashable) -> None:
        """Return at once if the turn has room, otherwise in a later turn.

        Tenants take turns: a tenant waits for one step of each other one, and for its own.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._started = loop, 0
            self._waiting.clear()
        if self._started < self._steps and not self._waiting:
            self._start(loop)
            return
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(tenant, deque()).append(future)
        await future

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._started:
            loop.call_soon(self._begin_turn, loop)
        self._started += 1

    def _begin_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._started = 0
        while self._waiting and self._started < self._steps:
            future = self._take()
            if not future.done():  # cancelled
                future.set_result(None)
                self._start(loop)

    def _take(self) -> "asyncio.Future[None]":
        """Remove the first future of the tenant whose turn it is."""
        tenant, queue = next(iter(self._waiting.items()))
        future = queue.popleft()
        if queue:
            self._waiting.move_to_end(tenant)
        else:
            del self._waiting[tenant]
        return future


# Shared by all applications of the process, which has one event loop.
turns_of_process = LoopTurns()
