"""Metrics of the whole installation: the head, the schedule, background work, free disk space.

They come from the database and Redis, which a scrape asks in a thread, at most once in
RECENT_SECONDS: a fixed number of statements, each of bounded cost.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator

from django.conf import settings
from django.db import Error
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from common import heartbeats
from common.database_pool import with_usable_connection
from common.disk_space import free_bytes
from common.heartbeats import Heartbeat, HeartbeatsUnavailable
from common.outages import Dependency, note_failure
from common.repeated_log import repeated_log
from common.thread_pool import ThreadPool
from profiles.storage import disk, head_state
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import QueueUnavailable

log = logging.getLogger(__name__)

RECENT_SECONDS = 10.0
# A scrape has 10 s by default. After so many seconds it gets the older values.
WAIT_SECONDS = 3.0
_OLDEST_SECONDS = (
    120.0  # older values are left out: a missing series is an alert, an old one is none
)


class InstallationMetrics:
    """Families of the installation, collected in one thread for all scrapes."""

    def __init__(self) -> None:
        self._threads = ThreadPool("flamewatch-metrics", threads=1)
        self._running: asyncio.Future[list[Metric]] | None = None
        self._families: list[Metric] = []
        self._collected_at = float("-inf")

    async def collect(self) -> list[Metric]:
        """Return the families; those that cannot be had are left out."""
        if time.monotonic() - self._collected_at < RECENT_SECONDS:
            return self._families
        running = self._running
        if (
            running is None
            or running.done()
            or running.get_loop() is not asyncio.get_running_loop()
        ):
            running = asyncio.ensure_future(self._threads.run(_collect))
            running.add_done_callback(self._store)
            self._running = running
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await asyncio.shield(running)
        except TimeoutError:
            is_old = time.monotonic() - self._collected_at > _OLDEST_SECONDS
            return [] if is_old else self._families

    def _store(self, ended: "asyncio.Future[list[Metric]]") -> None:
        if not ended.cancelled() and ended.exception() is None:
            self._families, self._collected_at = ended.result(), time.monotonic()

    def forget(self) -> None:
        """Collect anew at the next scrape, for tests."""
        self._collected_at = float("-inf")


def _collect() -> list[Metric]:
    families: list[Metric] = []
    for part in (_head, _schedule, _background, _disks):
        families += _collect_part(part)
    return families


def _collect_part(part: Callable[[], Iterator[Metric]]) -> list[Metric]:
    """Return the families of one part; none while its service does not respond."""
    try:
        return list(part())
    except Error as error:
        note_failure(Dependency.DATABASE, log, "Metrics of the head are missing: %s", error)
    except (QueueUnavailable, HeartbeatsUnavailable) as error:
        repeated_log.warn(log, "Metrics that are in Redis are missing: %s", error)
    except OSError as error:
        repeated_log.warn(log, "Metrics of the disks are missing: %s", error)
    return []


def _head() -> Iterator[Metric]:
    state = with_usable_connection(head_state.read_head_state)
    yield _gauge(
        "flamewatch_head_profiles",
        f"Profiles in the head; counting ends at {head_state.MAX_COUNTED:,}.",
        state.profiles,
    )
    age = 0.0
    if state.oldest_stored_at is not None:
        age = max(0.0, (timezone.now() - state.oldest_stored_at).total_seconds())
    yield _gauge(
        "flamewatch_compaction_lag_seconds",
        "Time since the oldest profile that waits for compaction was stored; 0 without any.",
        age,
    )
    quarantined = GaugeMetricFamily(
        "flamewatch_quarantined",
        "Profiles of the head and blocks that cannot be read, which queries report as missing.",
        labels=["kind"],
    )
    quarantined.add_metric(["profile"], state.quarantined_profiles)
    quarantined.add_metric(["block"], state.quarantined_blocks)
    yield quarantined


def _schedule() -> Iterator[Metric]:
    counts = queue_of_process().counts()
    yield _gauge("flamewatch_parked_agents", "Handshakes that are parked now.", counts.waiting)
    for name, text, count in (
        ("made", "Capture requests that were made.", counts.made),
        ("claimed", "Capture requests that an agent claimed.", counts.claimed),
        ("expired", "Capture requests that no agent claimed in time.", counts.expired),
    ):
        yield CounterMetricFamily(f"flamewatch_capture_requests_{name}", text, value=count)


def _background() -> Iterator[Metric]:
    last = heartbeats.read()
    for heartbeat, name, text in (
        (Heartbeat.BEAT, "beat", "Celery beat sent its last task."),
        (Heartbeat.WORKER, "worker", "a Celery worker ended its last task."),
    ):
        moment = last[heartbeat]
        if moment is not None:
            metric = f"flamewatch_{name}_last_run_timestamp_seconds"
            yield _gauge(metric, f"Unix time at which {text}", moment)
    planned = last[Heartbeat.PLAN]
    if planned is not None:
        lag = max(0.0, time.time() - planned - settings.PLAN_PERIOD_SECONDS)
        yield _gauge(
            "flamewatch_plan_lag_seconds",
            "Time by which the planning of capture requests is late; 0 if it is on time.",
            lag,
        )


def _disks() -> Iterator[Metric]:
    free = GaugeMetricFamily(
        "flamewatch_disk_free_bytes",
        "Free bytes of the disk of a folder of this machine that profiles are stored in.",
        labels=["folder"],
    )
    for folder in disk.folders():
        free.add_metric([str(folder)], free_bytes(folder))
    yield free


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


installation_metrics = InstallationMetrics()
