"""Release of memory while the server has little to do.

After work the allocator keeps freed memory, and worker processes keep their caches. Both are given
back once a process has been idle for some seconds.
"""

import gc
import threading
import time

from common.memory_allocator import release_freed_memory
from common.worker_processes.workers import Workers
from ingest.uploads import conversion_pool, decode_workers
from profiles.compaction import build_workers
from profiles.queries import query_workers

PERIOD_SECONDS = 5.0
# CPU seconds of this process in a period, below which it is idle.
IDLE_CPU_SECONDS = 0.5
# Releasing takes about 20 ms: only after so much work since the last time.
MIN_CPU_SECONDS = 1.0
# Of a worker: longer than somebody reads a page before the next one, whose query its caches serve.
IDLE_WORKER_SECONDS = 30.0


class IdleMemory:
    """Thread that releases memory of this process and of its idle workers."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._released_at = self._looked_at = time.process_time()
        self._thread = threading.Thread(target=self._run, name="idle-memory", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(PERIOD_SECONDS):
            self.release()

    def release(self) -> None:
        """Release what is idle now."""
        for workers in running_workers():
            workers.release_idle(IDLE_WORKER_SECONDS)
        used = time.process_time()
        is_idle = used - self._looked_at < IDLE_CPU_SECONDS
        self._looked_at = used
        if is_idle and used - self._released_at >= MIN_CPU_SECONDS:
            gc.collect()
            release_freed_memory()
            self._released_at = time.process_time()


def running_workers() -> list[Workers]:
    """Return the worker processes of this server, by their kind."""
    optional = (query_workers.running_workers(), build_workers.running_workers())
    started = [workers for workers in optional if workers is not None]
    return [conversion_pool.pool, decode_workers.workers, *started]
