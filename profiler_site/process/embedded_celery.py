"""Celery's worker and beat inside the server's process: one machine needs nothing else.

The worker uses threads; beat is a thread too (the worker's own `beat=True` would fork, with an
in-memory broker of its own, and nothing would ever run). Queued tasks die with the process, so
each job is derived again from the database.
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
    """Starts in `start`; `stop` takes a second at most and leaves what is stuck to daemons."""

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
        # The plain scheduler keeps its state in memory: the embedded one may forget it.
        self._beat: Any = EmbeddedService(app, thread=True, scheduler_cls=Scheduler)
        self._runner = _daemon("celery-worker", self._worker.start)

    def start(self) -> None:
        self._runner.start()
        self._beat.start()
        # Beat waits for its first minute to end; what was interrupted goes on at once.
        app.send_task(ROLL_UP)

    def stop(self, seconds: float = 1.0) -> None:
        deadline = time.monotonic() + seconds
        stopping = [
            _daemon("celery-stop-beat", self._beat.stop),
            _daemon("celery-stop-worker", self._worker.stop),
        ]
        for thread in stopping:
            thread.start()
        for thread in [*stopping, self._runner]:
            thread.join(max(0.0, deadline - time.monotonic()))


def _daemon(name: str, target: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=target, name=name, daemon=True)


def _close_old_connections(**kwargs: Any) -> None:
    close_old_connections()
