"""A named pool of few threads for the digest, and a bound on the bytes that uploads hold.

The digest releases the GIL; on the event loop it would keep thousands of agents from waking.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ingest.errors import Overloaded

THREADS = max(2, min(8, os.cpu_count() or 2))
# Bodies that are held in memory at once; beyond it uploads are told to come again.
BYTES_IN_FLIGHT = 256 * 2**20

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="flamewatch-digest")


def submit(work: Callable[[], None]) -> None:
    """Work without the database, that takes longer than an event loop should wait; it raises
    nothing, for nobody waits for it here."""
    _threads.submit(work)


class Budget:
    """Bytes that may be held at once; used from one event loop only."""

    def __init__(self, allowed: int) -> None:
        self._left = allowed

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Holds so many bytes back; Overloaded if there are not as many left."""
        if size > self._left:
            raise Overloaded("Too many uploads are under way; send this one again later.")
        self._left -= size
        try:
            yield
        finally:
            self._left += size


uploads = Budget(BYTES_IN_FLIGHT)
