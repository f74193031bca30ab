"""Head: every acknowledged profile is stored exactly once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connection
from django.utils import timezone

from profiles.models import Profile
from profiles.storage import head
from profiles.storage import insert as inserting
from profiles.storage.insert import insert, insert_once
from profiles.storage.new_profile import NewProfile
from projects.models import DayUsage, Deployment, Project
from projects.profile_types import ProfileType
from tests.connections import count_connections
from tests.profiles import rows
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture(autouse=True)
async def stopped() -> AsyncIterator[None]:
    yield
    await head.stop()


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


async def test_new_profile_is_stored_and_reported_as_new(shop: Deployment) -> None:
    new = rows.new(shop, labels={"instance": "a"})
    assert await head.store(new) is True
    row = await Profile.objects.aget()
    assert (row.service, row.type, row.time) == ("shop", "CPU", rows.NOON)
    assert row.weight == 9_000_000
    assert row.totals == [["cpu", "nanoseconds", 9_000_000]]
    assert row.labels == {"instance": "a"}
    assert bytes(row.tree) == new.content.tree


async def test_repeated_upload_is_stored_once(shop: Deployment) -> None:
    new = rows.new(shop)
    assert await head.store(new) is True
    assert await head.store(new) is False
    assert await asyncio.gather(*[head.store(new) for _ in range(5)]) == [False] * 5
    assert await Profile.objects.acount() == 1


async def test_other_bytes_under_a_stored_name_are_a_conflict(shop: Deployment) -> None:
    new = rows.new(shop)
    await head.store(new)
    with pytest.raises(head.Conflict, match=new.name_id):
        await head.store(replace(new, content=replace(new.content, body_hash=b"other")))
    assert bytes((await Profile.objects.aget()).body_hash) == new.content.body_hash


async def test_concurrent_uploads_are_all_stored(shop: Deployment) -> None:
    batch = [rows.new(shop) for _ in range(50)]
    assert await asyncio.gather(*map(head.store, batch)) == [True] * 50
    assert await Profile.objects.acount() == 50


async def test_duplicate_in_one_commit_is_stored_and_counted_once(shop: Deployment) -> None:
    new = rows.new(shop)
    other = replace(new, content=replace(new.content, body_hash=b"other"))
    await sync_to_async(_insert_and_compare)([new, new, other, rows.new(shop)])
    assert (await DayUsage.objects.aget()).profiles == 2


def _insert_and_compare(batch: list[head.NewProfile]) -> None:
    first, again, other, another = insert(batch)
    assert (first, again, another) == (True, False, True)
    assert isinstance(other, head.Conflict)


async def test_a_bad_profile_fails_alone(shop: Deployment) -> None:
    bad = replace(rows.new(shop), project=None)  # type: ignore[arg-type]
    good = [rows.new(shop) for _ in range(3)]
    outcomes = await asyncio.gather(
        *map(head.store, [good[0], bad, *good[1:]]), return_exceptions=True
    )
    assert isinstance(outcomes.pop(1), head.Rejected)
    assert outcomes == [True] * 3


@pytest.mark.parametrize(
    ("change", "sqlite_takes_it"),
    [
        pytest.param({"content": {"weight": 2**70}}, False, id="a number beyond 64 bits"),
        pytest.param({"service": "lone \ud800"}, False, id="half a pair of surrogates"),
        pytest.param(
            {"content": {"totals": [("cpu\0", "nanoseconds", 1)]}}, True, id="NUL in JSON"
        ),
        pytest.param({"service": "shop\0"}, True, id="NUL"),
    ],
)
async def test_a_value_that_the_database_cannot_hold_fails_alone(
    shop: Deployment, change: dict[str, Any], sqlite_takes_it: bool
) -> None:
    batch = [rows.new(shop) for _ in range(20)]
    content = replace(batch[7].content, **change.get("content", {}))
    batch[7] = replace(batch[7], **{**change, "content": content})
    outcomes = await sync_to_async(insert)(batch)
    bad = outcomes.pop(7)
    assert outcomes == [True] * 19
    taken = sqlite_takes_it and connection.vendor == "sqlite"
    assert bad is True if taken else isinstance(bad, head.Unstorable)
    assert await Profile.objects.acount() == 19 + taken
    assert (await DayUsage.objects.aget()).profiles == 19 + taken


async def test_bad_value_in_a_batch_takes_few_commits(
    shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = [rows.new(shop) for _ in range(64)]
    batch[40] = replace(batch[40], content=replace(batch[40].content, weight=2**70))
    sizes = list[int]()
    insert_new = inserting._insert_new

    def counted(
        batch: Sequence[head.NewProfile], search_blocks: bool
    ) -> list[inserting.InsertOutcome]:
        sizes.append(len(batch))
        return insert_new(batch, search_blocks)

    monkeypatch.setattr(inserting, "_insert_new", counted)
    await sync_to_async(insert)(batch)
    assert len(sizes) == 13  # one full commit, and two for each halving


async def test_stored_profiles_count_against_the_day_usage(shop: Deployment) -> None:
    batch = [rows.new(shop) for _ in range(3)]
    await asyncio.gather(*map(head.store, batch))
    await head.store(batch[0])
    usage = await DayUsage.objects.aget()
    assert usage.profiles == 3
    assert usage.stored_bytes == sum(len(new.content.tree) for new in batch)


async def test_stored_profile_adds_its_type_to_the_deployment(shop: Deployment) -> None:
    await head.store(rows.new(shop))
    await head.store(rows.new(shop, type=ProfileType.WALL))
    await shop.arefresh_from_db()
    assert shop.profiled == ["CPU", "WALL"]


async def test_commit_of_recent_profiles_takes_two_inserts(shop: Deployment) -> None:
    await head.store(recent(shop))
    with count_queries() as queries:
        await sync_to_async(insert_once)([recent(shop) for _ in range(20)])
    assert verbs(queries) == ["INSERT", "INSERT"]  # rows, unless they exist, and the day's usage


async def test_a_batch_of_late_profiles_is_looked_up_by_one_statement(shop: Deployment) -> None:
    await head.store(rows.new(shop))
    batch = [rows.new(shop, minutes=minute) for minute in range(20)]
    with count_queries() as queries:
        assert await sync_to_async(insert_once)(batch) == [True] * 20
    assert verbs(queries) == ["INSERT", "WITH", "INSERT"]


def recent(of: Deployment) -> NewProfile:
    return replace(rows.new(of), time=timezone.now())


def verbs(statements: Sequence[str]) -> list[str]:
    """Return the first words of the statements, without those that begin and end transactions."""
    words = [sql.split()[0] for sql in statements]
    return [word for word in words if word in {"WITH", "SELECT", "INSERT", "UPDATE", "DELETE"}]


async def test_the_writer_keeps_its_connection_until_the_database_closes_it(
    shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [False, False, True]

    def insert_or_lose(batch: Sequence[head.NewProfile]) -> list[inserting.InsertOutcome]:
        if losses and losses.pop(0):
            close_by_database()
        return insert(batch)

    monkeypatch.setattr(head, "_writer", head.Writer(insert_or_lose))
    await head.store(rows.new(shop))
    with count_connections() as opened:
        assert await head.store(rows.new(shop)) is True
    assert opened == []
    assert await head.store(rows.new(shop)) is True


def close_by_database() -> None:
    """Let PostgreSQL close this thread's connection; SQLite has no server that could."""
    if connection.vendor == "postgresql":
        with contextlib.suppress(psycopg.OperationalError):
            connection.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_type_of_a_failed_commit_is_added_by_the_next_commit(shop: Deployment) -> None:
    bad = replace(rows.new(shop), agent=10**9)
    with pytest.raises(head.Rejected):
        await head.store(bad)
    await head.store(rows.new(shop))
    await shop.arefresh_from_db()
    assert shop.profiled == ["CPU"]
