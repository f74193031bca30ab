"""Choice of the best sampler that this interpreter supports."""

import sys
from importlib import import_module
from typing import Any

from flamewatch.capture.native_heap import NativeHeap
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Sampler
from flamewatch.capture.signal_sampler import SignalSampler
from flamewatch.config import Heap
from flamewatch.log import one_line, warn

native: Any = None
_missing = ""
if "t" in sys.abiflags:
    # Objects of free-threaded builds have a different header. Some of these builds accept modules
    # of the stable ABI nevertheless and would crash in the native one, so it is not even loaded.
    _missing = "free-threaded builds of Python are not supported"
else:
    try:
        native = import_module("flamewatch._native")
    except ImportError as error:
        _missing = f"the agent's native extension cannot be loaded ({error})"


def choose_sampler(
    *,
    thread_names: bool = False,
    tasks: bool = False,
    idle_waits: bool = False,
    heap: Heap = "on-request",
    heap_raw: bool = False,
    quiet: bool = False,
) -> Sampler:
    """Return the C sampler, or the fallback after one log line with the reason (unless `quiet`)."""
    reason = _find_problem()
    if reason is None:
        counter = _heap(heap, raw=heap_raw, quiet=quiet)
        return NativeSampler(
            native, thread_names=thread_names, tasks=tasks, idle_waits=idle_waits, heap=counter
        )
    lesser = SignalSampler()
    captured_types = (
        "the main thread's CPU time and THREADS" if ProfileType.CPU in lesser.types else "THREADS"
    )
    if not quiet:
        warn(f"reduced profiling, only {captured_types}: {one_line(reason)}.")
    return lesser


def _heap(heap: Heap, *, raw: bool, quiet: bool) -> NativeHeap | None:
    counter = None if heap == "off" else NativeHeap(native, raw=raw)
    if counter and heap == "start":
        try:
            counter.begin()
        except RuntimeError as error:
            counter = None
            if not quiet:
                warn(f"no heap profiles: {one_line(str(error))}.")
    return counter


def _find_problem() -> str | None:
    if native is None:
        return _missing
    try:
        reason: str | None = native.supported()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return reason
