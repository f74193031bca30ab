"""Batch database look-ups: keys requested while one query runs share the next query."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from django.db import IntegrityError

from common import database_pool

K = TypeVar("K")
V = TypeVar("V")

MOST_AT_ONCE = 500


class BatchLoader(Generic[K, V]):
    """Loader of single keys that runs one query for all pending keys.

    `load_many(keys)` has to return a value for every key; its exception fails all of them. An
    IntegrityError is caused by a single row, so the keys of that batch are retried one by one.
    """

    def __init__(self, load_many: Callable[[Sequence[K]], Mapping[K, V]]) -> None:
        self._load_many = load_many
        self._asked: list[tuple[K, asyncio.Future[V]]] = []
        self._loading: asyncio.Task[None] | None = None

    async def load(self, key: K) -> V:
        """Return the value of a key, or raise the exception of its query."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[V] = loop.create_future()
        self._asked.append((key, answer))
        if self._loading is None or self._loading.done():
            self._loading = loop.create_task(self._load_what_is_asked())
        return await answer

    async def _load_what_is_asked(self) -> None:
        """Load all pending keys, at most MOST_AT_ONCE with one query."""
        while self._asked:
            batch, self._asked = self._asked[:MOST_AT_ONCE], self._asked[MOST_AT_ONCE:]
            error = await self._answer(batch)
            if isinstance(error, IntegrityError):
                for one in batch:
                    _fail([one], await self._answer([one]))
            else:
                _fail(batch, error)

    async def _answer(self, batch: list[tuple[K, "asyncio.Future[V]"]]) -> Exception | None:
        """Load a batch and complete its futures, or return the error.

        It must not raise, because nothing awaits the task that calls it.
        """
        try:
            found = await database_pool.run(self._load_many, [key for key, _answer in batch])
            values = [found[key] for key, _answer in batch]
        except Exception as error:
            return error
        for (_key, answer), value in zip(batch, values, strict=True):
            if not answer.done():
                answer.set_result(value)
        return None


def _fail(batch: list[tuple[K, "asyncio.Future[V]"]], error: Exception | None) -> None:
    for _key, answer in batch:
        if error is not None and not answer.done():
            answer.set_exception(error)
