"""Sampler that uses the C extension."""

import sys
import threading
from typing import Any

from flamewatch.capture import task_calibration
from flamewatch.capture.idle_waits import Codes, idle_codes
from flamewatch.capture.native_heap import NativeHeap
from flamewatch.capture.profile_types import KINDS, MEMORY, ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.capture.stacks import read_stacks
from flamewatch.labelling.calibration import learn
from flamewatch.log import warn

MAX_DEPTH = 512
PERIOD_US = 10_000

_DROPPED = ("torn", "no_slot", "table_full")
_NOTED = (
    "ticks",
    "reused",
    "cut",
    "unarmed",
    "signal_taken",
    "overdue",
    "labels_full",
    "lost",
    "idle",
    "gil_waits",
)


class NativeSampler:
    """Sampler of all threads, without the GIL.

    `native` is the extension module; `heap` adds the memory types.
    """

    name = "native"

    def __init__(
        self,
        native: Any,
        *,
        thread_names: bool = False,
        tasks: bool = False,
        idle_waits: bool = False,
        heap: NativeHeap | None = None,
    ) -> None:
        self._native = native
        self._learns_tasks = tasks
        self._thread_names = thread_names
        self._keeps_idle_waits = idle_waits
        self._heap = heap
        self._missing = frozenset() if heap else MEMORY
        if native.contention_supported() is not None:
            self._missing |= {ProfileType.CONTENTION}
        if reason := learn(native):
            warn(f"profiles will have no labels: {reason}.")

    @property
    def types(self) -> tuple[ProfileType, ...]:
        return tuple(kind for kind in ProfileType if kind not in self._missing)

    def stay_apart(self) -> None:
        self._native.heap_apart()

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        self._learn_tasks()
        if self._heap and kind in MEMORY:
            return self._heap.capture(kind, seconds, wait)
        own_thread = self._native.thread_id()
        self._native.start(
            KINDS[kind],
            period_us=PERIOD_US,
            max_depth=MAX_DEPTH,
            per_thread=self._thread_names,
            exclude=[own_thread],
            idle=self._idle(kind),
        )
        try:
            if kind is not ProfileType.THREADS:
                wait(seconds)
        finally:
            raw = self._native.stop()
        return self._read(kind, raw)

    def close(self) -> None:
        """Release the allocator hooks, the only resource held outside a capture."""
        if self._heap:
            self._heap.close()

    def after_fork(self) -> None:
        self._native.after_fork_child()

    def _idle(self, kind: ProfileType) -> Codes:
        """Look up the idle functions for each capture: the host may have imported more modules."""
        left_out = kind is ProfileType.CONTENTION and not self._keeps_idle_waits
        return idle_codes() if left_out else ()

    def _learn_tasks(self) -> None:
        """Calibrate the sampler for tasks, once, if the host has imported asyncio.

        Do not import asyncio here: a host that does not use it should not load it.
        """
        asyncio = sys.modules.get("asyncio")
        if not self._learns_tasks or not hasattr(asyncio, "Task"):
            return
        self._learns_tasks = False
        try:
            reason = task_calibration.learn(self._native, asyncio)
        except Exception as error:  # the host may have replaced asyncio
            reason = f"{type(error).__name__}: {error}"
        if reason:
            warn(f"profiles will not show asyncio tasks: {reason}.")

    def _read(self, kind: ProfileType, raw: Any) -> Capture:
        counts = raw["counts"]
        return Capture(
            stacks=read_stacks(raw, _thread_names() if self._thread_names else {}),
            period_ns=raw["period_ns"],
            started_ns=raw["started_ns"],
            duration_ns=0 if kind is ProfileType.THREADS else raw["duration_ns"],
            sampler_cpu_ns=raw["sampler_cpu_ns"],
            max_depth=MAX_DEPTH,
            dropped={reason: counts[reason] for reason in _DROPPED},
            memory_bytes=raw["memory_bytes"],
            notes={name: counts[name] for name in _NOTED if counts[name]} | self._gil_note(kind),
        )

    def _gil_note(self, kind: ProfileType) -> dict[str, int | str]:
        """Return a note if the profile cannot show waits for the GIL, though there may be some."""
        is_blind = kind is ProfileType.WALL and self._native.gil_waits_supported() is not None
        return {"gil_waits": "unknown"} if is_blind else {}


def _thread_names() -> dict[int, str]:
    """Map native thread ids to names, for the threads that `threading` knows."""
    threads = ((thread.native_id, thread.name) for thread in threading.enumerate())
    return {native: name for native, name in threads if native is not None}
