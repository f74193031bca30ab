"""Counting SQL on every thread: Django's own counter sees only the connection of the test."""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from django.db.backends.utils import CursorWrapper


@contextlib.contextmanager
def count_queries() -> Iterator[list[str]]:
    """The statements that any thread executes meanwhile."""
    seen: list[str] = []
    execute, executemany = CursorWrapper.execute, CursorWrapper.executemany

    def spy(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        seen.append(str(sql))
        return execute(self, sql, params)

    def spy_many(self: CursorWrapper, sql: Any, params: Any) -> Any:
        seen.append(str(sql))
        return executemany(self, sql, params)

    with patch.multiple(CursorWrapper, execute=spy, executemany=spy_many):
        yield seen
