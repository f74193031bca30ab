"""Context of a query: its project, its limits, and its database snapshot."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from threading import Event
from types import TracebackType
from typing import Any, TypeVar

from django.db import connection

from profiles.queries.query_record import QueryRecord
from projects.credentials.allowed_services import ALL_SERVICES, AllowedServices

T = TypeVar("T")

NO_PROJECT = 0  # of a context whose project is not known yet: no selection is of it
# Django's `atomic` is not used: on SQLite it would BEGIN IMMEDIATE and lock out the writers, and on
# PostgreSQL it would take two round trips, one to begin and one to set the isolation level.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


class DeadlinePassed(Exception):
    """Deadline of a query passed, or its client is gone; the text names what was waited for."""


class Snapshot:
    """One consistent state of the database, read in the `with` bodies of the snapshot.

    Compaction moves profiles from head rows into blocks in one commit; a query that reads both
    inside a snapshot finds each profile exactly once.

    The outermost `with` begins a read-only transaction and ends it. It takes no lock that a writer
    would wait for. Inside a transaction the snapshot uses that transaction. It belongs to the
    thread that entered it, as the database connection does.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._has_begun = False
        self._results: dict[Hashable, Any] = {}

    def __enter__(self) -> "Snapshot":
        if not self._depth:
            self._has_begun = not connection.in_atomic_block
            if self._has_begun:
                _execute(_BEGIN[connection.vendor])
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._results.clear()
            if self._has_begun:
                _execute("ROLLBACK")

    def once(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the result of `load()`, cached under the key until the snapshot ends.

        Outside the `with` body, call `load` each time. Callers must not modify the result.
        """
        if not self._depth:
            return load()
        if key not in self._results:
            self._results[key] = load()
        result: T = self._results[key]
        return result

    def get_cached(self, key: Hashable) -> Any | None:
        """Return the cached result of `once`, or None; do not load it."""
        return self._results.get(key)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Everything that a query needs besides its parameters.

    Queries with one context read the same state of the database inside `with context.snapshot`.
    """

    project: int  # Project.pk
    project_id: str = ""  # public id, which results name
    deadline: float | None = None  # in seconds of time.monotonic(); None: no deadline
    cancelled: Event = field(default_factory=Event)  # set when the client is gone
    snapshot: Snapshot = field(default_factory=Snapshot)
    record: QueryRecord = field(default_factory=QueryRecord)
    services: AllowedServices = ALL_SERVICES  # that the client may read

    def check(self) -> None:
        """Raise DeadlinePassed if the deadline has passed or the client is gone."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DeadlinePassed
        if self.cancelled.is_set():
            raise DeadlinePassed

    def for_project(
        self, project: int, project_id: str, seconds: float | None = None
    ) -> "QueryContext":
        """Return the context of a project that the client may read.

        With `seconds`, the deadline is so long from now.
        """
        self.record.facts.project_id = project_id
        deadline = self.deadline if seconds is None else time.monotonic() + seconds
        return replace(self, project=project, project_id=project_id, deadline=deadline)
