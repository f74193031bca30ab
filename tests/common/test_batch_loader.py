"""Shared query for concurrent lookups."""

import asyncio
from collections.abc import Sequence

import pytest
from django.db import IntegrityError, OperationalError

from common.batch_loader import MAX_BATCH, BatchLoader

pytestmark = [pytest.mark.real, pytest.mark.django_db]


class Squares:
    """Loader that returns squares and records the keys of each query."""

    def __init__(self, bad: int | None = None) -> None:
        self.load_and_render: list[list[int]] = []
        self.bad = bad

    def __call__(self, keys: Sequence[int]) -> dict[int, int]:
        self.load_and_render.append(list(keys))
        if self.bad in keys:
            raise IntegrityError(f"no such row: {self.bad}")
        return {key: key * key for key in keys}


async def test_simultaneous_lookups_share_a_query() -> None:
    squares = Squares()
    together = BatchLoader(squares)
    results = await asyncio.gather(*(together.load(n) for n in range(100)))
    assert results == [n * n for n in range(100)]
    assert squares.load_and_render == [list(range(100))]


async def test_a_query_is_bounded() -> None:
    squares = Squares()
    together = BatchLoader(squares)
    await asyncio.gather(*(together.load(n) for n in range(MAX_BATCH + 1)))
    assert [len(keys) for keys in squares.load_and_render] == [MAX_BATCH, 1]


async def test_error_of_one_key_does_not_fail_the_others() -> None:
    together = BatchLoader(Squares(bad=2))
    load_and_render = (together.load(n) for n in range(4))
    results = await asyncio.gather(*load_and_render, return_exceptions=True)
    assert results[:2] == [0, 1]
    assert isinstance(results[2], IntegrityError)
    assert results[3] == 9


async def test_without_a_database_all_fail_and_later_loads_succeed() -> None:
    away = True

    def load(keys: Sequence[int]) -> dict[int, int]:
        if away:
            raise OperationalError("the database is away")
        return {key: key for key in keys}

    together = BatchLoader(load)
    load_and_render = (together.load(n) for n in range(3))
    results = await asyncio.gather(*load_and_render, return_exceptions=True)
    assert all(isinstance(result, OperationalError) for result in results)
    away = False
    assert await together.load(5) == 5


async def test_a_missing_result_is_an_error() -> None:
    nothing: dict[int, int] = {}
    together = BatchLoader(lambda keys: nothing)
    with pytest.raises(KeyError):
        await asyncio.wait_for(together.load(1), 60)


async def test_cancelled_lookup_does_not_disturb_the_others() -> None:
    together = BatchLoader(Squares())
    first, second = (asyncio.create_task(together.load(n)) for n in (2, 3))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 9
