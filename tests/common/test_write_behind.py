"""Write-behind buffer."""

import asyncio
import logging
from itertools import chain

import pytest
from django.db import OperationalError

from common import write_behind
from common.write_behind import WriteBehindBuffer, split_batches

pytestmark = pytest.mark.real


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the test from the batches of other modules."""
    monkeypatch.setattr(write_behind, "_batches", [])


def add(older: int, newer: int) -> int:
    return older + newer


@pytest.mark.usefixtures("batches")
def test_facts_with_one_key_are_added_up_and_written_once() -> None:
    written: list[dict[str, int]] = []
    batch: WriteBehindBuffer[str, int] = WriteBehindBuffer(written.append, add)
    for key in "abaa":
        batch.note(key, 1)
    write_behind.write_now()
    write_behind.write_now()
    assert written == [{"a": 3, "b": 1}]


@pytest.mark.usefixtures("batches")
def test_unwritten_facts_are_retried_and_other_buffers_are_written() -> None:
    away, written = True, []

    def write(facts: dict[str, int]) -> None:
        batch.note("a", 10)  # arrives during the write
        if away:
            raise OperationalError("database is locked")
        written.append(facts)

    batch: WriteBehindBuffer[str, int] = WriteBehindBuffer(write, add)
    other: list[dict[str, int]] = []
    WriteBehindBuffer(other.append, add).note("x", 1)
    batch.note("a", 1)
    with pytest.raises(OperationalError):
        write_behind.write_now()
    assert other == [{"x": 1}]
    away = False
    write_behind.write_now()
    assert written == [{"a": 11}]


@pytest.mark.usefixtures("batches")
def test_facts_over_the_key_limit_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "MAX_KEYS", 2)
    written: list[dict[str, int]] = []
    batch: WriteBehindBuffer[str, int] = WriteBehindBuffer(written.append, add)
    for key in "abca":
        batch.note(key, 1)
    write_behind.write_now()
    assert written == [{"a": 2, "b": 1}]


@pytest.mark.usefixtures("batches", "db")
async def test_buffer_is_written_every_period_and_at_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_behind, "PERIOD_SECONDS", 0.001)
    loop, written = asyncio.get_running_loop(), asyncio.Event()

    def write(facts: dict[str, int]) -> None:
        loop.call_soon_threadsafe(written.set)

    batch: WriteBehindBuffer[str, int] = WriteBehindBuffer(write, add)
    await write_behind.start()
    batch.note("a", 1)
    await asyncio.wait_for(written.wait(), 60)
    monkeypatch.setattr(write_behind, "PERIOD_SECONDS", 1000)
    await write_behind.stop()
    written.clear()
    batch.note("b", 1)
    await write_behind.stop()
    await asyncio.wait_for(written.wait(), 60)


@pytest.mark.usefixtures("batches", "db")
async def test_failed_write_is_logged_and_its_facts_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(facts: dict[str, int]) -> None:
        raise OperationalError("database is locked")

    batch: WriteBehindBuffer[str, int] = WriteBehindBuffer(fail, add)
    batch.note("a", 1)
    with caplog.at_level(logging.WARNING):
        await write_behind.stop()
    assert "retrying: database is locked" in caplog.text
    assert batch.peek("a") == 1


def test_rows_are_locked_in_one_order_and_in_bounded_parts() -> None:
    parts = list(split_batches(range(1100, 0, -1)))
    assert [len(part) for part in parts] == [500, 500, 100]
    assert list(chain(*parts)) == list(range(1, 1101))
