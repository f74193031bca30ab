"""Checks of what the running server depends on: database, Redis, blob store, disk, beat, worker.

Each blocks until its service responds or its time-out passes.
"""

import time
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import connection
from django.db.utils import DatabaseError, InterfaceError
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from common import heartbeats
from common.disk_space import free_bytes
from common.heartbeats import Heartbeat, HeartbeatsUnavailable
from common.redis_outage import redis_options
from profiler_site.diagnosis.result import DiagnosisResult, Severity
from profiles.storage import disk
from profiles.storage.blobs import probe
from profiles.storage.blobs.address import BadAddress

# Beat and worker are late after so many planning periods without a run, and at least so many
# seconds.
_LATE_PERIODS, _LATE_SECONDS = 3, 180.0
_PROBE_KEY, _PROBE_SECONDS = "flamewatch:probe", 60


def check_database() -> DiagnosisResult:
    """Open a new connection and run a statement."""
    began = time.monotonic()
    try:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as error:
        text = f"The database does not respond: {first_line(error)} Check DATABASE_URL."
        return DiagnosisResult("database", Severity.FAILED, text)
    finally:
        connection.close()
    return _responds("database", began)


def check_redis() -> DiagnosisResult:
    """Write, read and delete a value."""
    if not settings.REDIS_URL:
        return DiagnosisResult("redis", Severity.OK, "Not used: REDIS_URL is not set.", 0.0)
    began = time.monotonic()
    client = redis.Redis.from_url(settings.REDIS_URL, **redis_options())
    try:
        client.set(_PROBE_KEY, b"probe", ex=_PROBE_SECONDS)
        found = client.get(_PROBE_KEY)
        client.delete(_PROBE_KEY)
    except (AuthenticationError, NoPermissionError) as error:
        text = f"Redis rejects the user or password of REDIS_URL: {first_line(error)}"
        return DiagnosisResult("redis", Severity.FAILED, text, is_permanent=True)
    except RedisError as error:
        text = f"Redis does not respond: {first_line(error)} Check REDIS_URL, or start Redis."
        return DiagnosisResult("redis", Severity.FAILED, text)
    finally:
        client.close()
    if found is None:
        text = "Redis has lost a value at once. Check its memory limit (maxmemory)."
        return DiagnosisResult("redis", Severity.FAILED, text)
    return _responds("redis", began)


def check_blob_store() -> DiagnosisResult:
    """Write, read and delete a blob."""
    began = time.monotonic()
    try:
        probe.probe_store(settings.BLOB_URL)
    except probe.StoreUnusable as error:
        return DiagnosisResult(
            "blob store", Severity.FAILED, str(error), is_permanent=error.is_permanent
        )
    return _responds("blob store", began)


def check_disk() -> DiagnosisResult:
    """Compare the free bytes of the local disks with FLAMEWATCH_MIN_FREE_BYTES."""
    try:
        shortage, folders = disk.shortage(), disk.folders()
    except BadAddress:
        text = "Unknown: BLOB_URL does not say where blobs are."
        return DiagnosisResult("disk", Severity.WARNING, text)
    if shortage:
        return DiagnosisResult("disk", Severity.FAILED, shortage)
    amounts = [f"{free_bytes(folder):,} bytes free in {folder}" for folder in folders]
    text = ", ".join(amounts) or "No profiles are stored on this machine's disks."
    return DiagnosisResult("disk", Severity.OK, text, 0.0)


def check_beat() -> DiagnosisResult:
    return _check_heartbeat(
        "beat", Heartbeat.BEAT, "Start exactly one: celery -A profiler_site beat"
    )


def check_worker() -> DiagnosisResult:
    return _check_heartbeat(
        "worker", Heartbeat.WORKER, "Start one or more: celery -A profiler_site worker"
    )


def _check_heartbeat(name: str, heartbeat: Heartbeat, remedy: str) -> DiagnosisResult:
    try:
        last = heartbeats.read()[heartbeat]
    except HeartbeatsUnavailable as error:
        text = f"Unknown while Redis does not respond: {first_line(error)}"
        return DiagnosisResult(name, Severity.WARNING, text)
    if not settings.REDIS_URL:
        remedy = (
            f"It runs in this server every {settings.PLAN_PERIOD_SECONDS:g} s, for the first time"
            " that long after the start: restart the server if it does not."
        )
    if last is None:
        return DiagnosisResult(name, Severity.WARNING, f"Celery's {name} has not run yet. {remedy}")
    age = max(0.0, time.time() - last)
    allowed = max(_LATE_SECONDS, _LATE_PERIODS * settings.PLAN_PERIOD_SECONDS)
    if age > allowed:
        text = f"Celery's {name} ran {age:,.0f} s ago; every {allowed:,.0f} s at least. {remedy}"
        return DiagnosisResult(name, Severity.FAILED, text, age)
    return DiagnosisResult(name, Severity.OK, "runs", age)


def first_line(error: Exception) -> str:
    """Return the first line of an error's text as a sentence, without what follows it."""
    line = str(error).strip().partition("\n")[0] or type(error).__name__
    return line if line.endswith(".") else f"{line}."


def _responds(name: str, began: float) -> DiagnosisResult:
    milliseconds = (time.monotonic() - began) * 1000
    return DiagnosisResult(name, Severity.OK, f"responds in {milliseconds:.0f} ms", 0.0)


SERVICE_CHECKS: dict[str, Callable[[], DiagnosisResult]] = {
    "database": check_database,
    "redis": check_redis,
    "blob store": check_blob_store,
    "disk": check_disk,
    "beat": check_beat,
    "worker": check_worker,
}
