"""Thread pool that runs SQL for asynchronous code."""

import asyncio
import threading

import pytest
from django.db import connection

from common import database_pool
from common.thread_pool import ThreadPool
from projects.models import Project

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


async def test_it_runs_in_a_few_named_threads() -> None:
    def name() -> str:
        return threading.current_thread().name

    names = await asyncio.gather(*(database_pool.run(name) for _ in range(100)))
    assert len(set(names)) <= database_pool.THREADS
    assert all(one.startswith("flamewatch-sql") for one in names)


async def test_more_than_can_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "_sql", ThreadPool("test", 2, max_jobs=2))
    hold = threading.Event()
    first = [asyncio.create_task(database_pool.run(hold.wait, 10)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(database_pool.DatabasePoolFull, match="2 queries are already waiting"):
        await database_pool.run(hold.wait)
    hold.set()
    assert await asyncio.gather(*first) == [True, True]
    assert await database_pool.run(int, "5") == 5


async def test_a_connection_that_broke_is_not_used_again() -> None:
    def break_it() -> None:
        connection.ensure_connection()
        connection.connection.close()

    await asyncio.gather(*(database_pool.run(break_it) for _ in range(database_pool.THREADS)))
    counts = await asyncio.gather(*(database_pool.run(Project.objects.count) for _ in range(8)))
    assert counts == [0] * 8


async def test_an_error_comes_back_to_the_one_who_awaits() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await database_pool.run(int, "x")


async def test_who_leaves_before_his_turn_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "_sql", ThreadPool("test", 1, max_jobs=2))
    hold = threading.Event()
    first = asyncio.create_task(database_pool.run(hold.wait, 10))
    await asyncio.sleep(0)
    for _ in range(5):
        leaving = asyncio.create_task(database_pool.run(hold.wait, 10))
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    hold.set()
    assert await first
