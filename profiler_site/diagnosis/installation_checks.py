"""Checks of an installation that need no running server: settings, files, clock, services."""

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import redis
from django.conf import settings
from django.core.checks import WARNING, CheckMessage
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from redis.exceptions import RedisError

from common.redis_outage import redis_options
from profiler_site.configuration.checks import find_problems
from profiler_site.diagnosis.result import DiagnosisResult, Severity
from profiler_site.diagnosis.service_checks import (
    check_beat,
    check_blob_store,
    check_disk,
    check_redis,
    check_worker,
    first_line,
)
from profiler_site.process.migration import DatabaseTooOld, require_supported_database
from profiles.storage.column_files import column_files

# Fewer open files leave no room for agents beside connections, blobs and pages.
_FEW_FILES = 4096
_CLOCK_SECONDS = 2.0  # capture requests expire 60 s after their time; profiles carry their own


def check_installation() -> list[DiagnosisResult]:
    """Run all checks, in the order in which their problems should be solved."""
    results = [*_check_settings(), _check_data_folder(), check_disk()]
    results += [check_block_cache(), _check_open_files()]
    database = _check_database()
    results += [database, check_redis(), check_blob_store()]
    if database.severity is not Severity.FAILED:
        results.append(_check_migrations())
    results.append(_check_clock())
    if settings.REDIS_URL:
        results += [check_beat(), check_worker()]
    return results


def _check_settings() -> Iterator[DiagnosisResult]:
    problems = find_problems()
    for problem in problems:
        severity = Severity.FAILED if problem.level > WARNING else Severity.WARNING
        yield DiagnosisResult("settings", severity, problem_text(problem))
    if not problems:
        yield DiagnosisResult("settings", Severity.OK, "All values can be used.", 0.0)


def problem_text(problem: CheckMessage) -> str:
    return f"{problem.msg} {problem.hint}" if problem.hint else str(problem.msg)


def _check_data_folder() -> DiagnosisResult:
    folder = Path(settings.DATA_DIR)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"probe")
            file.flush()
    except OSError as error:
        text = f"{folder} cannot be written: {error.strerror}. Check FLAMEWATCH_DATA_DIR."
        return DiagnosisResult("data folder", Severity.FAILED, text)
    if folder.stat().st_uid != os.geteuid():
        text = f"{folder} belongs to another user. Run the server as its owner."
        return DiagnosisResult("data folder", Severity.WARNING, text)
    return DiagnosisResult("data folder", Severity.OK, f"{folder} can be written.", 0.0)


def check_block_cache() -> DiagnosisResult:
    files = column_files()
    if files is None:
        text = "FLAMEWATCH_BLOCK_CACHE_BYTES turns it off: each query reads its blocks."
        return DiagnosisResult("block cache", Severity.OK, text)
    try:
        size, limit = files.measure()
    except OSError as error:
        text = f"{files.folder} cannot be read: {error.strerror}. Delete it, or correct its owner."
        return DiagnosisResult("block cache", Severity.WARNING, text)
    if limit < files.most:
        text = (
            f"The free disk space allows {limit:,} bytes of the {files.most:,} of"
            " FLAMEWATCH_BLOCK_CACHE_BYTES. Free some space, or lower the setting."
        )
        return DiagnosisResult("block cache", Severity.WARNING, text)
    return DiagnosisResult("block cache", Severity.OK, f"{size:,} of {limit:,} bytes in use.", 0.0)


def _check_open_files() -> DiagnosisResult:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _FEW_FILES:
        text = (
            f"Only {hard:,} open files are allowed. Raise the hard limit (LimitNOFILE in systemd)."
        )
        return DiagnosisResult("open files", Severity.WARNING, text)
    amount = "Any number" if hard == resource.RLIM_INFINITY else f"{hard:,}"
    return DiagnosisResult("open files", Severity.OK, f"{amount} may be open.", 0.0)


def _check_database() -> DiagnosisResult:
    """Write, read and delete a row of a table that is made and dropped in one transaction."""
    began = time.monotonic()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TABLE flamewatch_probe (value integer)")
            cursor.execute("INSERT INTO flamewatch_probe VALUES (1)")
            cursor.execute("SELECT value FROM flamewatch_probe")
            found = cursor.fetchone()
            cursor.execute("DROP TABLE flamewatch_probe")
    except (DatabaseError, InterfaceError) as error:
        text = f"It cannot be used: {first_line(error)} Check DATABASE_URL and the user's rights."
        return DiagnosisResult("database", Severity.FAILED, text)
    if found != (1,):
        return DiagnosisResult(
            "database", Severity.FAILED, "It returns other values than were written."
        )
    milliseconds = (time.monotonic() - began) * 1000
    text = f"{connection.vendor} writes and reads in {milliseconds:.0f} ms."
    return DiagnosisResult("database", Severity.OK, text, 0.0)


def _check_migrations() -> DiagnosisResult:
    try:
        require_supported_database()
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError) as error:
        return DiagnosisResult("migrations", Severity.FAILED, f"Not readable: {first_line(error)}")
    except DatabaseTooOld as too_old:
        return DiagnosisResult("migrations", Severity.FAILED, str(too_old))
    if pending:
        text = (
            f"{len(pending)} are pending. The start of `flamewatch up` applies them, or"
            " `flamewatch migrate`."
        )
        return DiagnosisResult("migrations", Severity.WARNING, text)
    return DiagnosisResult("migrations", Severity.OK, "None is pending.", 0.0)


def _check_clock() -> DiagnosisResult:
    """Compare the clock of this machine with those of PostgreSQL and Redis."""
    differences: dict[str, float] = {}
    for name, read in _clocks().items():
        try:
            before = time.time()
            differences[name] = read() - (before + time.time()) / 2
        except (DatabaseError, InterfaceError, RedisError):
            continue  # the check of the service itself says so
    wrong = {name: each for name, each in differences.items() if abs(each) > _CLOCK_SECONDS}
    if wrong:
        amounts = ", ".join(f"{name} by {each:+.1f} s" for name, each in wrong.items())
        text = f"Clocks differ from this machine's: {amounts}. Synchronize them (NTP)."
        return DiagnosisResult("clock", Severity.FAILED, text)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with_others = " and ".join(differences) or "no other machine"
    return DiagnosisResult("clock", Severity.OK, f"It is {now}, compared with {with_others}.", 0.0)


def _clocks() -> dict[str, Callable[[], float]]:
    clocks: dict[str, Callable[[], float]] = {}
    if connection.vendor == "postgresql":
        clocks["PostgreSQL"] = _read_database_clock
    if settings.REDIS_URL:
        clocks["Redis"] = _read_redis_clock
    return clocks


def _read_database_clock() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        return float(cursor.fetchone()[0])


def _read_redis_clock() -> float:
    client = redis.Redis.from_url(settings.REDIS_URL, **redis_options())
    try:
        seconds, microseconds = client.time()
        return float(seconds) + float(microseconds) / 1e6
    finally:
        client.close()
