"""Futures of stored profiles: all are completed, with one wake-up per event loop."""

import asyncio

import pytest

from profiles.storage.upload_future import UploadFuture, UploadOutcome, complete
from tests.wake_ups import count_wakes


async def test_futures_completed_together_take_one_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wakes = count_wakes(monkeypatch)
    many = [UploadFuture() for _ in range(50)]
    results = asyncio.gather(*(future.wait() for future in many), return_exceptions=True)
    outcomes: list[UploadOutcome] = [True, False, True, ValueError("bad"), KeyError("worse")] * 10
    complete(zip(many, outcomes, strict=True))
    assert await results == outcomes
    assert len(wakes) == 1


async def test_cancelled_wait_leaves_other_futures_to_complete() -> None:
    future, other = UploadFuture(), UploadFuture()
    waiting = asyncio.create_task(future.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert future.is_done
    complete([(future, True), (other, True)])
    assert await other.wait() is True


def test_closed_loop_leaves_futures_of_other_loops_to_complete() -> None:
    async def make() -> UploadFuture:
        return UploadFuture()

    async def later() -> object:
        mine = UploadFuture()
        complete([(gone, True), (mine, True)])
        return await mine.wait()

    gone = asyncio.run(make())
    assert asyncio.run(later()) is True
