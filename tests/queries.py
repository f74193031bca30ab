"""Count SQL on every thread, because Django's counter sees only the test's connection."""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from django.db.backends.utils import CursorWrapper


@contextlib.contextmanager
def count_queries() -> Iterator[list[str]]:
    """Yield a list of the statements that any thread executes in the block."""
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
