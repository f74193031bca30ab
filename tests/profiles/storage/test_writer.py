"""Writer thread: shared commits, an unavailable or slow database, stopping."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from django.db import OperationalError

from profiles.models import TimeSource
from profiles.storage import head, upload_future
from profiles.storage.head import StoreUnavailable, Writer
from profiles.storage.insert import InsertOutcome
from profiles.storage.new_profile import NewProfile
from profiles.storage.profile_content import ProfileContent
from profiles.storage.upload_future import UploadFuture
from projects.profile_types import ProfileType
from tests.profiles.rows import NOON

pytestmark = pytest.mark.real

NEW = NewProfile(
    project=1,
    deployment=1,
    agent=None,
    service="shop",
    type=ProfileType.CPU,
    time=NOON,
    time_source=TimeSource.ASSIGNED,
    duration_ns=0,
    labels={},
    name_id="name",
    content=ProfileContent(body_hash=b"hash", samples=0, weight=0, totals=[], tree=b""),
)


class Database:
    """Database stand-in that accepts batches when released, or raises an error."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.busy = threading.Event()
        self.error: Exception | None = None

    def insert(self, batch: Sequence[NewProfile]) -> list[InsertOutcome]:
        self.busy.set()
        self.may_go_on.wait(30)
        if self.error:
            raise self.error
        self.batches.append(len(batch))
        return [True] * len(batch)


@pytest.fixture
def database() -> Database:
    return Database()


@pytest_asyncio.fixture
async def writer(database: Database) -> AsyncIterator[Writer]:
    made = Writer(database.insert)
    yield made
    database.may_go_on.set()
    await asyncio.to_thread(made.stop)


async def store(writer: Writer) -> object:
    outcome = UploadFuture()
    writer.enter(NEW, outcome)
    return await outcome.wait()


async def test_profiles_that_arrive_during_a_commit_share_the_next_commit(
    writer: Writer, database: Database
) -> None:
    database.may_go_on.clear()
    first = asyncio.create_task(store(writer))
    await asyncio.to_thread(database.busy.wait, 30)
    others = [asyncio.create_task(store(writer)) for _ in range(50)]
    await asyncio.sleep(0)
    database.may_go_on.set()
    assert await asyncio.gather(first, *others) == [True] * 51
    assert database.batches == [1, 50]


async def test_a_commit_waits_for_a_profile_that_is_decoded(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "GATHER_SECONDS", 30)
    decoded = UploadFuture()
    writer.expect(decoded)
    first = asyncio.create_task(store(writer))
    await asyncio.wait({first}, timeout=0.1)
    assert database.batches == []
    writer.enter(NEW, decoded)
    assert await first is True
    assert await decoded.wait() is True
    assert database.batches == [2]


async def test_a_commit_does_not_wait_for_a_profile_that_cannot_be_decoded(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "GATHER_SECONDS", 30)
    rejected = UploadFuture()
    writer.expect(rejected)
    first = asyncio.create_task(store(writer))
    await asyncio.wait({first}, timeout=0.1)
    assert database.batches == []
    writer.withdraw(rejected)
    async with asyncio.timeout(10):
        assert await first is True
    assert database.batches == [1]


async def test_a_commit_waits_no_longer_than_its_limit_for_a_slow_profile(
    writer: Writer, database: Database
) -> None:
    writer.expect(UploadFuture())
    async with asyncio.timeout(10):
        assert await store(writer) is True
    assert database.batches == [1]


async def test_a_profile_does_not_wait_for_itself(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "GATHER_SECONDS", 30)
    decoded = UploadFuture()
    writer.expect(decoded)
    writer.enter(NEW, decoded)
    async with asyncio.timeout(10):
        assert await decoded.wait() is True
    assert database.batches == [1]


async def test_unavailable_database_rejects_until_it_is_back(
    writer: Writer, database: Database
) -> None:
    database.error = OperationalError("server closed the connection")
    with pytest.raises(StoreUnavailable, match="server closed"):
        await store(writer)
    database.error = None
    assert await store(writer) is True


class LostConnection:
    """Stand-in for the writer's connection after the database has closed it."""

    connection: object | None = object()

    def is_usable(self) -> bool:
        return False

    def close(self) -> None:
        self.connection = None


async def test_a_connection_that_the_database_closed_is_replaced(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "connection", LostConnection())
    attempts: list[int] = []

    def insert(batch: Sequence[NewProfile]) -> list[InsertOutcome]:
        attempts.append(len(batch))
        if len(attempts) == 1:
            raise OperationalError("the connection is closed")
        return database.insert(batch)

    monkeypatch.setattr(writer, "_insert", insert)
    assert await store(writer) is True
    assert attempts == [1, 1]


async def test_an_unforeseen_error_does_not_end_the_writer(
    writer: Writer, database: Database
) -> None:
    database.error = ZeroDivisionError()
    with pytest.raises(StoreUnavailable):
        await store(writer)
    database.error = None
    assert await store(writer) is True


async def test_hanging_database_rejects_after_the_wait_limit(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_future, "WAIT_SECONDS", 0.05)
    database.may_go_on.clear()
    with pytest.raises(StoreUnavailable, match="within"):
        await store(writer)
    monkeypatch.setattr(upload_future, "WAIT_SECONDS", 30)
    database.may_go_on.set()
    assert await store(writer) is True


async def test_profile_over_the_queue_limit_is_rejected(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "MAX_WAITING", 2)
    database.may_go_on.clear()
    first = asyncio.create_task(store(writer))
    await asyncio.to_thread(database.busy.wait, 30)
    waiting = [asyncio.create_task(store(writer)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="2 profiles are waiting"):
        await store(writer)
    database.may_go_on.set()
    assert await asyncio.gather(first, *waiting) == [True] * 3


async def test_stopped_writer_has_written_all_queued_profiles(database: Database) -> None:
    writer = Writer(database.insert)
    database.may_go_on.clear()
    first = asyncio.create_task(store(writer))
    await asyncio.to_thread(database.busy.wait, 30)
    others = [asyncio.create_task(store(writer)) for _ in range(3)]
    await asyncio.sleep(0)
    stopping = asyncio.create_task(asyncio.to_thread(writer.stop))
    database.may_go_on.set()
    await stopping
    assert await asyncio.gather(first, *others) == [True] * 4
    with pytest.raises(StoreUnavailable, match="stopping"):
        await store(writer)
