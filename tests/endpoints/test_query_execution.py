"""Execution of API queries within their deadline and their project's share of threads."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

from common.fair_threads import FairThreads
from endpoints.error_responses import error_response
from endpoints.errors import QueryTooSlow
from endpoints.query_execution import execute
from profiles.queries import concurrency
from profiles.queries.concurrency import LIMITS, TooManyQueriesWaiting
from profiles.query import DeadlinePassed, QueryContext
from projects.credentials.authentication import Access

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> FairThreads:
    threads = FairThreads("flamewatch-query", LIMITS)
    monkeypatch.setattr(concurrency, "_threads", threads)
    return threads


class Gate:
    """Blocking work that reports its start and ends when the gate opens."""

    def __init__(self) -> None:
        self.begun = 0
        self.open = threading.Event()
        self._lock = threading.Lock()

    def work(self, context: QueryContext) -> str:
        with self._lock:
            self.begun += 1
        assert self.open.wait(60)
        return threading.current_thread().name


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def key_of(project: int, key: int = 1) -> Access:
    return Access(
        project=project,
        project_id=f"project-{project}",
        key=key,
        prefix="fw",
        may_write=False,
        may_read=True,
    )


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110  the change happens in threads
            await asyncio.sleep(0.001)


async def test_keys_of_one_project_share_its_threads_and_another_has_its_own(gate: Gate) -> None:
    other = Gate()
    tasks = [asyncio.create_task(execute(key_of(1, key), gate.work)) for key in range(5)]
    await until(lambda: gate.begun == LIMITS.running_of_tenant)
    another = asyncio.create_task(execute(key_of(2), other.work))
    await until(lambda: other.begun == 1)
    assert gate.begun == LIMITS.running_of_tenant
    gate.open.set()
    other.open.set()
    names = await asyncio.gather(*tasks, another)
    assert all(name.startswith("flamewatch-query") for name in names)


async def test_cancelled_query_stops_its_work() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(context: QueryContext) -> None:
        begun.set()
        try:
            while True:
                context.check()
                time.sleep(0.001)
        finally:
            ended.set()

    asking = asyncio.create_task(execute(key_of(1), work))
    await until(begun.is_set)
    asking.cancel()
    await until(ended.is_set)
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_query_over_its_deadline_holds_its_thread_until_its_work_ends(
    settings: Settings, gate: Gate, threads: FairThreads
) -> None:
    settings.QUERY_SECONDS = 0.05

    async def too_slow() -> None:
        with pytest.raises(QueryTooSlow):
            await execute(key_of(1), gate.work)

    while gate.begun < LIMITS.running_of_client:  # a thread may start after its deadline
        await too_slow()
    await too_slow()
    await too_slow()
    assert gate.begun == LIMITS.running_of_client
    gate.open.set()
    await until(lambda: threads.is_idle)
    settings.QUERY_SECONDS = 60.0
    assert await execute(key_of(1), gate.work)


async def test_queries_over_the_queue_limit_are_429(gate: Gate, threads: FairThreads) -> None:
    def ask(count: int) -> list["asyncio.Task[str]"]:
        return [asyncio.create_task(execute(key_of(1), gate.work)) for _ in range(count)]

    tasks = ask(LIMITS.running_of_client)
    await until(lambda: gate.begun == LIMITS.running_of_client)
    # Only now, because until a thread takes them, the first queries fill the queue too.
    tasks += ask(LIMITS.waiting_of_tenant)
    await until(lambda: threads.waiting == LIMITS.waiting_of_tenant)
    with pytest.raises(TooManyQueriesWaiting) as raised:
        await execute(key_of(1), gate.work)
    found = error_response(raised.value)
    assert found.status == 429
    assert "64 queries of this project" in found.message
    assert int(found.headers["Retry-After"]) >= 5
    gate.open.set()
    await asyncio.gather(*tasks)


async def test_error_of_a_query_is_raised_and_its_thread_continues() -> None:
    def fail(context: QueryContext) -> None:
        raise ValueError("no")

    for _ in range(LIMITS.threads + 1):
        with pytest.raises(ValueError, match="no"):
            await execute(key_of(1), fail)


async def test_timeout_error_names_the_blob_read_that_timed_out() -> None:
    def late(context: QueryContext) -> str:
        raise DeadlinePassed("Reading blob a/b timed out.")

    with pytest.raises(QueryTooSlow, match=r"FLAMEWATCH_QUERY_SECONDS.* Reading blob a/b"):
        await execute(key_of(1), late)
