"""Threads that decode profiles, in the order of their projects' recent cost.

Decoding releases the GIL. On the event loop it would delay the long polls of thousands of agents.
Large profiles have a thread of their own, so that small profiles, which are decoded within a
millisecond, do not queue behind them.
"""

import asyncio
import os
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from common.fair_threads import FairLimits, FairThreads
from common.thread_pool import Job
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import gunzip, read_claimed_size
from profiles.engine.pprof.limits import DecodeLimits

# At least 2: on two cores a single thread takes 10 % less CPU time for small profiles, but decodes
# a third fewer large ones.
THREADS = max(2, min(8, os.cpu_count() or 2))
LARGE_BYTES = 2**19  # size of the body as it is sent
LARGE_RAW_BYTES = 8 * 2**20  # size of the profile after gunzip
_UNLIMITED = 2**62

T = TypeVar("T")


def _threads(name: str, threads: int) -> FairThreads:
    """Return threads that one project may use alone.

    Their queue needs no limit: the budget of uploads bounds the memory of what waits in it.
    """
    limits = FairLimits(
        threads=threads,
        running_of_tenant=threads,
        running_of_client=threads,
        waiting_of_tenant=_UNLIMITED,
        waiting=_UNLIMITED,
    )
    return FairThreads(name, limits)


_small = _threads("flamewatch-decode", THREADS)
_large = _threads("flamewatch-decode-large", 1)


def is_large(body_bytes: int, raw_bytes: int = 0) -> bool:
    """Return True for profiles that only the thread for large ones decodes."""
    return body_bytes >= LARGE_BYTES or raw_bytes > LARGE_RAW_BYTES


def unpack(body: bytes, *, is_large: bool) -> bytes | None:
    """Gunzip a profile in the thread that was chosen for it, up to FLAMEWATCH_MAX_PROFILE_BYTES.

    Return None for a gzip that unpacks to more than it claims and has to start again in the thread
    for large profiles: waiting there, it must not hold its unpacked bytes. Raise BadProfile or
    TooLarge.
    """
    allowed = int(settings.MAX_PROFILE_BYTES)
    small = min(allowed, LARGE_RAW_BYTES)
    try:
        return gunzip(body, allowed if is_large else small)
    except TooLarge:
        if is_large or allowed == small:
            raise
        return None


def start(project: int, job: Job, *, large: bool) -> None:
    """Queue a job that decodes a profile and handles its own exceptions: nobody awaits it."""
    (_large if large else _small).start(("project", project), job)


async def run(project: int, function: Callable[[], T], size: int) -> T:
    """Call `function` for a body of `size` bytes in a decode thread; return its result.

    The thread returns results and rejections (BadProfile, TooLarge) in a list, out of which this
    function takes them: the future is part of a reference cycle, and would hold the frames of an
    exception, and with them the body and the unpacked profile, until a garbage collection.
    """

    def call() -> list[T | BadProfile | TooLarge]:
        try:
            return [function()]
        except (BadProfile, TooLarge) as error:
            error.__context__ = error.__cause__ = None
            return [error.with_traceback(None)]

    threads = _large if is_large(size) else _small
    tenant = ("project", project)
    result = (await asyncio.wrap_future(threads.submit(tenant, tenant, call))).pop()
    try:
        if isinstance(result, BadProfile | TooLarge):
            raise result
        return result
    finally:
        del result


async def run_unpacked(project: int, body: bytes, function: Callable[[bytes], T]) -> T:
    """Gunzip a profile and call `function` with it in a decode thread; return its result."""

    def call(*, large: bool) -> list[T]:
        raw = unpack(body, is_large=large)
        return [] if raw is None else [function(raw)]

    large = is_large(len(body), read_claimed_size(body))
    size = LARGE_BYTES if large else len(body)
    results = await run(project, partial(call, large=large), size)
    results = results or await run(project, partial(call, large=True), LARGE_BYTES)
    return results.pop()


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


@receiver(setting_changed)
def _forget(**_: object) -> None:
    decode_limits.cache_clear()
