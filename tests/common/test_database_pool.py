"""Thread pool that runs SQL for asynchronous code."""

import asyncio
import contextlib
import threading

import psycopg
import pytest
from django.db import connection, transaction

from common import database_pool
from common.fair_threads import FairThreads
from common.thread_pool import ThreadPool
from profiles.queries import concurrency
from projects.models import Project
from tests.connections import count_connections

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


async def test_queries_run_in_a_limited_number_of_named_threads() -> None:
    def name() -> str:
        return threading.current_thread().name

    names = await asyncio.gather(*(database_pool.run(name) for _ in range(100)))
    assert len(set(names)) <= database_pool.THREADS
    assert all(one.startswith("flamewatch-sql") for one in names)


async def test_queries_over_the_queue_limit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "_sql", ThreadPool("test", 2, max_jobs=2))
    hold = threading.Event()
    first = [asyncio.create_task(database_pool.run(hold.wait, 10)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(database_pool.DatabasePoolFull, match="2 queries are already waiting"):
        await database_pool.run(hold.wait)
    hold.set()
    assert await asyncio.gather(*first) == [True, True]
    assert await database_pool.run(int, "5") == 5


async def test_a_thread_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "_sql", ThreadPool("test", 1))
    with count_connections() as opened:
        for _ in range(5):
            await database_pool.run(Project.objects.count)
    assert len(opened) == 1


async def test_a_thread_of_queries_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = concurrency.LIMITS
    threads = FairThreads("test", limits)
    monkeypatch.setattr(concurrency, "_threads", threads)
    with count_connections() as opened:
        for _ in range(3 * limits.threads):
            await concurrency.run_query(1, "client", lambda _context: Project.objects.count())
    assert len(opened) <= limits.threads


def lose_connection() -> None:
    """Let PostgreSQL close this thread's connection; on SQLite leave it in a transaction."""
    connection.ensure_connection()
    if connection.vendor == "postgresql":
        with contextlib.suppress(psycopg.OperationalError):
            connection.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    else:
        transaction.set_autocommit(False)


async def test_a_lost_connection_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "_sql", ThreadPool("test", 1))
    await database_pool.run(lose_connection)
    with count_connections() as opened:
        for _ in range(3):
            assert await database_pool.run(Project.objects.count) == 0
    assert len(opened) == 1


async def test_error_of_a_query_is_raised_to_its_caller() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await database_pool.run(int, "x")


async def test_a_cancelled_query_leaves_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
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
