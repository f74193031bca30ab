"""Batch database look-ups: keys requested while one query runs share the next query."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from django.db import IntegrityError

from common import database_pool

K = TypeVar("K")
V = TypeVar("V")

MAX_BATCH = 500


class BatchLoader(Generic[K, V]):
    """Loader of single keys that runs one query for all pending keys.

    `load_many(keys)` has to return a value for every key; its exception fails all of them. An
    IntegrityError is caused by a single row, so the keys of that batch are retried one by one.
    """

    def __init__(self, load_many: Callable[[Sequence[K]], Mapping[K, V]]) -> None:
        self._load_many = load_many
        self._pending: list[tuple[K, asyncio.Future[V]]] = []
        self._loading: asyncio.Task[None] | None = None

    async def load(self, key: K) -> V:
        """Return the value of a key, or raise the exception of its query."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[V] = loop.create_future()
        self._pending.append((key, future))
        if self._loading is None or self._loading.done():
            self._loading = loop.create_task(self._load_pending())
        return await future

    async def _load_pending(self) -> None:
        """Load all pending keys, at most MAX_BATCH with one query."""
        while self._pending:
            batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
            error = await self._load_batch(batch)
            if isinstance(error, IntegrityError):
                for pending in batch:
                    _fail([pending], await self._load_batch([pending]))
            else:
                _fail(batch, error)

    async def _load_batch(self, batch: list[tuple[K, "asyncio.Future[V]"]]) -> Exception | None:
        """Load a batch and complete its futures, or return the error.

        It must not raise, because nothing awaits the task that calls it.
        """
        try:
            values_by_key = await database_pool.run(
                self._load_many, [key for key, _future in batch]
            )
            values = [values_by_key[key] for key, _future in batch]
        except Exception as error:
            return error
        for (_key, future), value in zip(batch, values, strict=True):
            if not future.done():
                future.set_result(value)
        return None


def _fail(batch: list[tuple[K, "asyncio.Future[V]"]], error: Exception | None) -> None:
    for _key, future in batch:
        if error is not None and not future.done():
            future.set_exception(error)
