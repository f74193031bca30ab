"""Builds of compaction and retention in a worker process, which is killed at a limit.

One build runs at a time, in a process of its own: its memory, its GIL and its crash are not those
of the server. The worker reads the database and the blobs, and writes neither. Where no worker has
been started (commands, tests, a Celery worker, a server with FLAMEWATCH_QUERY_WORKERS=0) the
function is called in this process.
"""

import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.conf import settings

from common.database_pool import with_usable_connection
from common.worker_processes.messages import JobControl, JobLimits, JobRequest
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import (
    JobCrashed,
    JobFailed,
    LimitExceeded,
    WorkerLost,
    Workers,
    unwrap,
)
from profiles.compaction.replace import NewBlock, Replacement
from profiles.models import BlockLevel

# The build may succeed later: the worker was ended by something else, or has a bug.
BUILD_FAILURES = (WorkerLost, JobFailed)
# The build would end the same another time.
BUILD_LIMITS = (LimitExceeded, JobCrashed)

_SLICE_BYTES = 2**20  # of a block in one message: a message is copied a few times
_DOCUMENT_BYTES = 64 * 2**20  # columns of the rows of all blocks, without their bytes

Slices = dict[int, list[bytes]]  # bytes of the new blocks, by their position


def start(program: WorkerProgram, forked_with: Workers | None = None) -> None:
    """Let builds run in a worker, which is started by the first one."""
    global _workers
    _workers = Workers("compaction", program, at_start=0, forked_with=forked_with)


def stop() -> None:
    """End the worker; a running build is lost."""
    global _workers
    if _workers is not None:
        _workers.stop()
        _workers = None


def running_workers() -> Workers | None:
    return _workers


def build(function: Callable[..., Replacement], project: int, *args: object) -> Replacement:
    """Return the result of a function of `build.py`, from a worker if there are any.

    Raise what the function raises, or one of BUILD_FAILURES and BUILD_LIMITS.
    """
    with _turn:
        workers = _workers
        if workers is None:
            return function(project, *args)
        return _build_in_worker(workers, function, project, *args)


def _build_in_worker(
    workers: Workers, function: Callable[..., Replacement], project: int, *args: object
) -> Replacement:
    seconds = settings.COMPACTION_SECONDS
    limits = JobLimits(
        cpu_seconds=seconds,
        wall_seconds=seconds,
        memory_bytes=settings.COMPACTION_MEMORY_BYTES,
        result_bytes=_DOCUMENT_BYTES,
    )
    request = JobRequest(_run_build, (function, project, *args), limits, is_controlled=True)
    slices: Slices = {}

    def take_slice(part: tuple[int, bytes]) -> None:
        slices.setdefault(part[0], []).append(part[1])

    result = workers.perform(project, request, take_slice)
    return decode_replacement(unwrap(result, limits), slices)


def _run_build(
    control: JobControl, function: Callable[..., Replacement], project: int, *args: object
) -> bytes:
    """Run a build in the worker: send the bytes of its blocks, and return the rest."""
    replacement = with_usable_connection(partial(function, project, *args))
    for position, block in enumerate(replacement.new):
        for start in range(0, len(block.data), _SLICE_BYTES):
            control.send((position, block.data[start : start + _SLICE_BYTES]))
    return encode_replacement(replacement)


def encode_replacement(replacement: Replacement) -> bytes:
    """Return a replacement as JSON, without the bytes of its blocks."""
    document = asdict(replacement)
    for block in document["new"]:
        del block["data"]
    return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)


def decode_replacement(document: bytes, slices: Slices) -> Replacement:
    """Return the replacement of a document and the bytes of its blocks."""
    fields: dict[str, Any] = orjson.loads(document)
    new = [
        _decode_block(block, b"".join(slices.pop(position)))
        for position, block in enumerate(fields.pop("new"))
    ]
    rows, blocks = fields.pop("quarantined_rows"), fields.pop("quarantined_blocks")
    return Replacement(
        new=new,
        quarantined_rows={int(pk): reason for pk, reason in rows.items()},
        quarantined_blocks={int(pk): reason for pk, reason in blocks.items()},
        **fields,
    )


def _decode_block(fields: dict[str, Any], data: bytes) -> NewBlock:
    return NewBlock(
        level=BlockLevel(fields.pop("level")),
        start=datetime.fromisoformat(fields.pop("start")),
        end=datetime.fromisoformat(fields.pop("end")),
        data=data,
        deduplication_keys=tuple(fields.pop("deduplication_keys")),
        hour_blocks=tuple(fields.pop("hour_blocks")),
        **fields,
    )


_workers: Workers | None = None
_turn = threading.RLock()  # a test builds within a build
