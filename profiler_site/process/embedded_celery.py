"""Celery's worker and beat inside the server's process, for installations on one machine.

The worker uses threads, and beat is a thread too: the worker's own `beat=True` would fork, with a
separate in-memory broker, and no task would ever run. Queued tasks are lost when the process ends,
so each start derives the jobs from the database again.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from celery.beat import EmbeddedService, Scheduler
from celery.signals import task_postrun, task_prerun
from celery.worker import WorkController
from django.db import close_old_connections

from profiler_site.celery import ROLL_UP, app

_THREADS = 4


class EmbeddedCelery:
    """Embedded worker and beat.

    `stop` waits for at most `seconds` in all; stuck work stays in daemon threads.
    """

    def __init__(self) -> None:
        task_prerun.connect(_close_old_connections)
        task_postrun.connect(_close_old_connections)
        self._worker = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=_THREADS,
            hostname="celery@embedded",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        # The plain scheduler keeps its state in memory, which suffices for an embedded beat.
        self._beat: Any = EmbeddedService(app, thread=True, scheduler_cls=Scheduler)
        self._worker_thread = _daemon("celery-worker", self._worker.start)

    def start(self) -> None:
        # Beat runs this task for the first time after 60 s; resume interrupted work at once. It is
        # sent before there are other threads: the in-memory broker adds a queue without a lock, so
        # that the worker could replace the one that has the message.
        app.send_task(ROLL_UP)
        self._worker_thread.start()
        self._beat.start()

    def stop(self, seconds: float = 1.0) -> None:
        deadline = time.monotonic() + seconds
        stopping = [
            _daemon("celery-stop-beat", self._beat.stop),
            _daemon("celery-stop-worker", self._worker.stop),
        ]
        for thread in stopping:
            thread.start()
        for thread in [*stopping, self._worker_thread]:
            thread.join(max(0.0, deadline - time.monotonic()))


def _daemon(name: str, target: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=target, name=name, daemon=True)


def _close_old_connections(**kwargs: Any) -> None:
    close_old_connections()
