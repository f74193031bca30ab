"""Turns: a few queries of each key at once, and none for somebody who left."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from pytest_django import Settings

from ingest.errors import QueryTooSlow
from ingest.query_api import turns
from ingest.query_api.turns import AT_ONCE, THREADS, Turns
from profiles.queries.asked import DeadlinePassed, check
from projects.sync_pool import SyncPool, TooBusy

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_threads", SyncPool("flamewatch-query", THREADS, most_waiting=9))


class Gate:
    """Work that begins and waits to be let through."""

    def __init__(self) -> None:
        self.begun = 0
        self.open = threading.Event()
        self._lock = threading.Lock()

    def work(self, deadline: float) -> str:
        with self._lock:
            self.begun += 1
        assert self.open.wait(60)
        return threading.current_thread().name


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110  what it waits for happens in threads
            await asyncio.sleep(0.001)


async def test_one_key_has_a_few_turns_and_another_its_own() -> None:
    many, gate, other = Turns(), Gate(), Gate()
    asked = [asyncio.create_task(many.run(1, gate.work)) for _ in range(5)]
    await until(lambda: gate.begun == AT_ONCE)
    another = asyncio.create_task(many.run(2, other.work))
    await until(lambda: other.begun == 1)
    assert gate.begun == AT_ONCE
    gate.open.set()
    other.open.set()
    names = await asyncio.gather(*asked, another)
    assert all(name.startswith("flamewatch-query") for name in names)
    assert not many._of_key
    assert not many._asking


async def test_work_stops_when_nobody_waits_for_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(deadline: float) -> None:
        begun.set()
        try:
            while True:
                check(deadline)
                time.sleep(0.001)
        finally:
            ended.set()

    asking = asyncio.create_task(Turns().run(1, work))
    await until(begun.is_set)
    asking.cancel()
    await until(ended.is_set)
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_turn_lasts_as_long_as_its_thread(settings: Settings) -> None:
    settings.QUERY_SECONDS = 0.05
    many, gate = Turns(), Gate()

    async def too_slow() -> None:
        with pytest.raises(QueryTooSlow):
            await many.run(1, gate.work)

    while gate.begun < AT_ONCE:  # a thread may be too late to begin at all
        await too_slow()
    await too_slow()
    await too_slow()
    assert gate.begun == AT_ONCE
    gate.open.set()
    await until(lambda: not many._asking)
    settings.QUERY_SECONDS = 60.0
    assert await many.run(1, gate.work)


async def test_more_than_can_wait_are_refused() -> None:
    many, gate = Turns(), Gate()
    asked = [asyncio.create_task(many.run(key, gate.work)) for key in range(9)]
    await until(lambda: gate.begun == THREADS)
    with pytest.raises(TooBusy):
        await many.run(10, gate.work)
    gate.open.set()
    await asyncio.gather(*asked)
    assert not many._asking


async def test_errors_come_back_and_end_the_turn() -> None:
    many = Turns()

    def fail(deadline: float) -> None:
        raise ValueError("no")

    for _ in range(AT_ONCE + 1):
        with pytest.raises(ValueError, match="no"):
            await many.run(1, fail)
    await until(lambda: not many._asking)


async def test_what_an_answer_waited_for_is_said() -> None:
    def late(deadline: float) -> str:
        raise DeadlinePassed("Blob a/b did not come in time.")

    with pytest.raises(QueryTooSlow, match=r"FLAMEWATCH_QUERY_SECONDS.* Blob a/b did not come"):
        await Turns().run(1, late)
