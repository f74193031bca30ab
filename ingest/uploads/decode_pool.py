"""Choice of the thread or worker process that decodes a profile, in the fair order of projects.

Small profiles are decoded by compiled code without the GIL, in threads: within a few milliseconds,
which on the event loop would delay the long polls of thousands of agents. Large and costly ones are
decoded by worker processes (decode_workers.py), for each of which a thread waits.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from common.cores import count_cores
from common.fair_threads import FairLimits, FairThreads
from common.thread_pool import Job
from ingest.uploads import decode_workers
from ingest.uploads.decode_job import BodyLimits
from ingest.uploads.decode_workers import DecodingRejected
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import read_claimed_size
from profiles.engine.pprof.limits import DecodeLimits, setting
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

# At least 2: on two cores a single thread takes 10 % less CPU time for small profiles, but decodes
# a third fewer large ones.
THREADS = max(2, min(8, count_cores()))
# One project uses all but one, so that its large uploads leave one for others.
WORKERS = max(3, min(8, count_cores() + 1))
LARGE_MESSAGE_BYTES = 2**19  # of a message that is parsed in the thread for large ones
# Bodies as they are sent. Decoding this many bytes takes 4.5 ms; a worker adds 0.5 ms.
WORKER_BYTES = 128 * 2**10
WORKER_RAW_BYTES = 2**20  # after gunzip, for bodies that are compressed well
# Frames of all stacks of a profile that a thread decodes: at most 40 ms. Nine times those of a Go
# heap profile of WORKER_RAW_BYTES.
THREAD_STACK_FRAMES = 2**22
_UNLIMITED = 2**62

T = TypeVar("T")


class NeedsWorker(Exception):
    """Profile that turns out to be too large or costly for a thread."""


def _threads(name: str, threads: int, running_of_tenant: int = 0) -> FairThreads:
    """Return threads of which one project may use `running_of_tenant`, or all.

    Their queue needs no limit: the budget of uploads bounds the memory of what waits in it.
    """
    limits = FairLimits(
        threads=threads,
        running_of_tenant=running_of_tenant or threads,
        running_of_client=threads,
        waiting_of_tenant=_UNLIMITED,
        waiting=_UNLIMITED,
    )
    return FairThreads(name, limits)


_small = _threads("flamewatch-decode", THREADS)
_large_messages = _threads("flamewatch-large-messages", 1)
_workers = _threads("flamewatch-decode-workers", WORKERS, running_of_tenant=WORKERS - 1)


def needs_worker(body: bytes) -> bool:
    """Return True for profiles that only a worker process decodes."""
    return len(body) >= WORKER_BYTES or read_claimed_size(body) > WORKER_RAW_BYTES


def start(project: int, job: Job, *, in_worker: bool) -> None:
    """Queue a job that calls `decode` and handles its own exceptions: nobody awaits it."""
    (_workers if in_worker else _small).start(("project", project), job)


def decode(
    project: int,
    function: Callable[..., T],
    body: bytes,
    *args: object,
    in_worker: bool,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> T:
    """Call a function of decode_job.py with the body, its limits and `args`; return its result.

    Call it in the thread that `start` has chosen. Raise NeedsWorker if the profile has to start
    again in the one for workers: while it waits there, it holds no unpacked bytes. Raise BadProfile
    or TooLarge, and what decode_workers.decode raises.
    """
    if in_worker:
        return decode_workers.decode(
            project, function, body, body_limits(), *args, is_cancelled=is_cancelled
        )
    limits = _thread_limits()
    try:
        return function(body, limits, *args)
    except TooLarge as error:
        is_smaller = {
            setting("max_profile_bytes"): limits.max_raw < body_limits().max_raw,
            setting("max_stack_frames"): limits.decode != body_limits().decode,
        }
        if is_smaller.get(error.limit, False):
            raise NeedsWorker from None
        raise


def note_rejection(project: int, error: Exception) -> None:
    """Count an error of `decode` if it is a limit of a worker process. Call on the event loop."""
    if isinstance(error, DecodingRejected):
        rejections.note(project, RejectionReason.DECODING)


async def run(project: int, function: Callable[[], T], size: int) -> T:
    """Call `function` for a message of `size` bytes in a thread; return its result."""
    return await _run(_large_messages if size >= LARGE_MESSAGE_BYTES else _small, project, function)


async def decode_apart(project: int, function: Callable[..., T], body: bytes, *args: object) -> T:
    """Call a function of decode_job.py in a thread or a worker process; return its result.

    Raise BadProfile or TooLarge, and what decode_workers.decode raises.
    """
    call = partial(decode, project, function, body, *args)
    try:
        if not needs_worker(body):
            try:
                return await _run(_small, project, partial(call, in_worker=False))
            except NeedsWorker:
                pass
        return await _run(_workers, project, partial(call, in_worker=True))
    except DecodingRejected as error:
        note_rejection(project, error)
        raise


async def _run(threads: FairThreads, project: int, function: Callable[[], T]) -> T:
    """Call `function` in one of the threads and return its result.

    The thread returns results and rejections (BadProfile, TooLarge) in a list, out of which this
    function takes them: the future is part of a reference cycle, and would hold the frames of an
    exception, and with them the body and the unpacked profile, until a garbage collection.
    """

    def call() -> list[T | BadProfile | TooLarge | NeedsWorker]:
        try:
            return [function()]
        except (BadProfile, TooLarge, NeedsWorker) as error:
            error.__context__ = error.__cause__ = None
            return [error.with_traceback(None)]

    tenant = ("project", project)
    result = (await asyncio.wrap_future(threads.submit(tenant, tenant, call))).pop()
    try:
        if isinstance(result, BadProfile | TooLarge | NeedsWorker):
            raise result
        return result
    finally:
        del result


@cache
def decode_limits() -> DecodeLimits:
    return DecodeLimits(
        max_samples=settings.MAX_SAMPLES,
        max_depth=settings.MAX_DEPTH,
        max_nodes=settings.MAX_NODES,
        max_symbols=settings.MAX_SYMBOLS,
        max_sample_labels=settings.MAX_SAMPLE_LABELS,
        max_string_bytes=settings.MAX_STRING_BYTES,
        max_expansion=settings.MAX_EXPANSION,
        max_total=settings.MAX_TOTAL,
        max_stack_frames=settings.MAX_STACK_FRAMES,
    )


@cache
def body_limits() -> BodyLimits:
    return BodyLimits(int(settings.MAX_PROFILE_BYTES), decode_limits())


@cache
def _thread_limits() -> BodyLimits:
    """Return the limits beyond which a profile is for a worker process, or is rejected."""
    limits = body_limits()
    frames = min(limits.decode.max_stack_frames, THREAD_STACK_FRAMES)
    return BodyLimits(
        min(limits.max_raw, WORKER_RAW_BYTES), replace(limits.decode, max_stack_frames=frames)
    )


@receiver(setting_changed)
def _forget(**_: object) -> None:
    for limits in (decode_limits, body_limits, _thread_limits):
        limits.cache_clear()
