"""Fair order of requests on the event loop."""

import asyncio
from collections.abc import Sequence

from common.loop_turns import LoopTurns

STEPS = 2


async def order_of(turns: LoopTurns, tenants: Sequence[str]) -> list[str]:
    """Return the tenants in the order in which their steps start, all of them waiting at once."""
    started: list[str] = []

    async def step(tenant: str) -> None:
        await turns.wait(tenant)
        started.append(tenant)

    await asyncio.gather(*map(step, tenants))
    return started


async def test_tenants_take_turns_regardless_of_their_backlog() -> None:
    order = await order_of(LoopTurns(STEPS), [*"A" * 100, "B", "B", "C"])
    assert order == [*"AA", *"ABC", *"AB", *"A" * 96]


async def test_a_turn_of_the_loop_has_a_bounded_number_of_steps() -> None:
    turns, started = LoopTurns(STEPS), list[int]()

    async def step() -> None:
        await turns.wait("A")
        started.append(1)

    steps = [asyncio.create_task(step()) for _ in range(20)]
    before, most = 0, 0
    while len(started) < len(steps):
        await asyncio.sleep(0)
        most, before = max(most, len(started) - before), len(started)
    assert most == STEPS


async def test_steps_within_the_limit_do_not_wait() -> None:
    turns, passed = LoopTurns(STEPS), list[int]()
    asyncio.get_running_loop().call_soon(passed.append, 1)
    for _ in range(STEPS):
        await turns.wait("A")
    assert not passed, "no turn of the loop has passed"
    await turns.wait("A")
    assert passed


async def test_a_tenant_that_arrives_during_a_burst_is_next() -> None:
    turns, started = LoopTurns(STEPS), list[str]()

    async def step(tenant: str) -> None:
        await turns.wait(tenant)
        started.append(tenant)
        if len(started) == 10:
            later.append(asyncio.create_task(step("B")))

    later: list[asyncio.Task[None]] = []
    await asyncio.gather(*(step("A") for _ in range(100)))
    await asyncio.gather(*later)
    # The turn that runs, the one in which B begins to wait, and its own.
    assert started.index("B") <= 10 + 3 * STEPS


async def test_a_cancelled_step_takes_no_turn_from_others() -> None:
    turns = LoopTurns(STEPS)
    waiting = [asyncio.create_task(turns.wait("A")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in waiting[STEPS:-1]:
        task.cancel()
    await asyncio.wait_for(waiting[-1], 30)
    assert [task.cancelled() for task in waiting] == [*[False] * STEPS, *[True] * 7, False]
    assert not turns._waiting


def test_another_event_loop_starts_with_an_empty_queue() -> None:
    turns = LoopTurns(STEPS)

    async def leave_some_waiting() -> None:
        for _ in range(5):
            asyncio.create_task(turns.wait("A"))  # noqa: RUF006  cancelled with the loop
        await asyncio.sleep(0)

    asyncio.run(leave_some_waiting())
    assert asyncio.run(order_of(turns, ["B"])) == ["B"]
