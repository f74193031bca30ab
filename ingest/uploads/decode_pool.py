"""Threads that decode profiles.

Decoding releases the GIL. On the event loop it would delay the long polls of thousands of agents.
Large profiles have a thread of their own, so that small profiles, which are decoded within a
millisecond, do not queue behind them.
"""

import os
from collections.abc import Callable
from typing import TypeVar

from common.thread_pool import Job, ThreadPool

# At least 2: on two cores a single thread takes 10 % less CPU time for small profiles, but decodes
# a third fewer large ones.
THREADS = max(2, min(8, os.cpu_count() or 2))
LARGE_BYTES = 2**19  # size of the body as it is sent
LARGE_RAW_BYTES = 8 * 2**20  # size of the profile after gunzip

T = TypeVar("T")

_small = ThreadPool("flamewatch-decode", THREADS)
_large = ThreadPool("flamewatch-decode-large", 1)


def is_large(body_bytes: int, raw_bytes: int = 0) -> bool:
    """Return True for profiles that only the thread for large ones decodes."""
    return body_bytes >= LARGE_BYTES or raw_bytes > LARGE_RAW_BYTES


def start(job: Job, *, large: bool) -> None:
    """Queue a job that decodes a profile and handles its own exceptions: nobody awaits it."""
    (_large if large else _small).start(job)


async def run(function: Callable[[], T], size: int) -> T:
    """Call `function` for a body of `size` bytes in a decode thread; return its result."""
    return await (_large if is_large(size) else _small).run(function)
