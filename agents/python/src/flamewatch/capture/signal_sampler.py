"""Fallback for interpreters without the C sampler: CPU time of the main thread, and THREADS.

The kernel sends SIGPROF after each period of the *process's* CPU time, and Python runs the handler
in the main thread. The value of a sample is the CPU time that the main thread used since the last
sample, whichever threads used the rest. CPU time of other threads is left out, and the profile says
so.
"""

import contextlib
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FrameType

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.capture.stacks import Frame, Stack
from flamewatch.labelling.context import RUNNING
from flamewatch.labelling.encoding import decode

MAX_DEPTH = 512
MAX_STACKS = 20_000
PERIOD_NS = 10_000_000

Position = tuple[CodeType, int]
Key = tuple[tuple[Position, ...], bytes]  # a stack and its labels


class SignalSampler:
    """Sampler based on SIGPROF. Outside the main thread it offers only THREADS."""

    name = "signal"

    def __init__(self) -> None:
        self._counts: Counter[Key] = Counter()
        self._values: Counter[Key] = Counter()
        self._table_full = 0
        self._capturing = False
        self._clock_ns = 0
        self._installed = self._install()

    @property
    def types(self) -> tuple[ProfileType, ...]:
        cpu = (ProfileType.CPU,) if self._installed else ()
        return (*cpu, ProfileType.THREADS)

    def stay_apart(self) -> None:
        """Do nothing: this sampler does not count memory."""

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        return self._threads() if kind is ProfileType.THREADS else self._cpu(seconds, wait)

    def close(self) -> None:
        """Restore SIGPROF's default action, if called in the main thread, and stop the timer."""
        if self._installed and signal.getsignal(signal.SIGPROF) == self._handle:
            signal.setitimer(signal.ITIMER_PROF, 0)
            with contextlib.suppress(ValueError):
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
        self._installed = False

    def after_fork(self) -> None:
        self._capturing = False  # timers are not inherited by a fork, handlers are

    def _install(self) -> bool:
        """Install the handler, only if the host uses neither the signal nor its timer."""
        taken = signal.getsignal(signal.SIGPROF) is not signal.SIG_DFL
        if taken or any(signal.getitimer(signal.ITIMER_PROF)):
            return False
        try:
            signal.signal(signal.SIGPROF, self._handle)
        except ValueError:  # not the main thread, or not the main interpreter
            return False
        signal.siginterrupt(signal.SIGPROF, False)
        return True

    def _cpu(self, seconds: float, wait: Wait) -> Capture:
        self._counts, self._values, self._table_full, self._clock_ns = Counter(), Counter(), 0, 0
        started, begun = time.time_ns(), time.monotonic_ns()
        self._capturing = True
        signal.setitimer(signal.ITIMER_PROF, PERIOD_NS / 1e9, PERIOD_NS / 1e9)
        try:
            wait(seconds)
        finally:
            self._capturing = False
            signal.setitimer(signal.ITIMER_PROF, 0)
        return self._read(started, time.monotonic_ns() - begun)

    def _handle(self, _number: int, frame: FrameType | None) -> None:
        """Record a sample.

        Python calls this in the main thread, between two bytecode instructions.
        """
        now = time.thread_time_ns()
        if not self._capturing:
            return
        # The first sample has no previous clock value, so it counts for at most one period.
        value = now - self._clock_ns if self._clock_ns else min(now, PERIOD_NS)
        positions = tuple(islice(_positions(frame), MAX_DEPTH + 1))
        self._add((positions, RUNNING.get()), value)
        self._clock_ns = time.thread_time_ns()  # exclude the time spent in this handler

    def _add(self, stack: Key, value: int) -> None:
        if stack not in self._counts and len(self._counts) >= MAX_STACKS:
            self._table_full += 1
            return
        self._counts[stack] += 1
        self._values[stack] += value

    def _read(self, started_ns: int, duration_ns: int) -> Capture:
        stacks = [_stack(key[0], self._values[key], n, key[1]) for key, n in self._counts.items()]
        dropped, notes = {"table_full": self._table_full}, {"threads": "main"}
        return Capture(stacks, PERIOD_NS, started_ns, duration_ns, 0, MAX_DEPTH, dropped, 0, notes)

    def _threads(self) -> Capture:
        started, own = time.time_ns(), threading.get_ident()
        stacks = [
            _stack(tuple(islice(_positions(frame), MAX_DEPTH + 1)), 1, 1)
            for thread, frame in sys._current_frames().items()
            if thread != own
        ]
        return Capture(stacks, 1, started, 0, 0, MAX_DEPTH, {}, 0, {})


def _positions(frame: FrameType | None) -> Iterator[Position]:
    while frame is not None:
        yield frame.f_code, frame.f_lineno or 0
        frame = frame.f_back


def _stack(positions: tuple[Position, ...], value: int, count: int, labels: bytes = b"") -> Stack:
    frames = tuple(
        Frame(code.co_qualname, code.co_filename, line, code.co_firstlineno)
        for code, line in positions[:MAX_DEPTH]
    )
    cut = len(positions) > MAX_DEPTH
    return Stack(frames, value, count, 0, "", cut, decode(labels))
