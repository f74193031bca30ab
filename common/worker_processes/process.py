"""One worker process, seen from its parent."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getpagesize, getrusage
from typing import Any, NamedTuple

from common.worker_processes.fork_server import ForkServer
from common.worker_processes.messages import (
    CANCEL_SIGNAL,
    REPLY_HEADER,
    Reply,
    ReplyKind,
    decode_reply,
)
from common.worker_processes.program import WorkerProgram

# Replies that are no result: errors with their traceback.
_LEAST_REPLY_BYTES = 256 * 2**10
_SAMPLE_SECONDS = 0.05
_CANCEL_SECONDS = 5.0  # that a cancelled job may take to end by itself


class Death(NamedTuple):
    """End of a worker process."""

    signal: int  # 0: it exited by itself
    peak_bytes: int  # its largest resident memory, as far as it is known
    cpu_seconds: float = 0.0  # since its last reply


class FinalReply(NamedTuple):
    """End of a job."""

    reply: Reply
    is_last: bool  # the worker ends after it, and has to be replaced
    cpu_seconds: float


class WorkerEnded(Exception):
    """The process has ended, or has sent bytes that no worker sends, before its reply."""


class WallTimePassed(Exception):
    """No reply before the deadline, or not soon after the job was cancelled."""


@dataclass(slots=True)
class _Wait:
    """Wait for a job: until its deadline, which is nearer once the job is cancelled."""

    deadline: float  # time.monotonic()
    is_cancelled: Callable[[], bool] = lambda: False
    was_cancelled: bool = False


class WorkerProcess:
    """Process with three pipes and the standard error of its parent, started by exec or forked.

    Not thread-safe, except for `kill`.
    """

    def __init__(self, program: WorkerProgram, fork_server: ForkServer | None = None) -> None:
        """Start the process without waiting for it. Raise OSError."""
        self._classes = program.classes
        self._process: subprocess.Popen[bytes] | None
        self._lock = threading.Lock()
        self._death: Death | None = None
        self._peak_bytes = 0  # as far as it was looked at
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        lifeline, self._lifeline = os.pipe()
        try:
            if fork_server is not None:
                self._process = None
                fork_server.fork(program, (requests, replies, lifeline))
            else:
                self._process = program.start_process(lifeline, requests, replies)
        except BaseException:
            self._close_pipes()
            raise
        finally:
            for descriptor in (requests, replies, lifeline):
                os.close(descriptor)
        # exec counts the memory of its caller as that of the new process: a lower peak is unknown.
        # Read afterwards, because another thread may have made it larger meanwhile.
        self._parent_peak = getrusage(RUSAGE_SELF).ru_maxrss if self._process else 0
        # 0: not known yet, of a worker that is being forked
        self.pid = self._process.pid if self._process else 0
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        self.tenant: Hashable = None  # of the last job
        self.started_at = time.monotonic()
        self.is_ready = False
        self.has_low_priority = False
        self.memory = 0  # resident bytes without a job; known when it is ready
        self.idle_since = self.started_at
        self._own_bytes = 0  # without a job
        self._cpu_seconds = 0.0  # until its last reply

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the worker has imported its modules. Raise WorkerEnded or WallTimePassed."""
        if self.is_ready:
            return
        ready = self._receive(_LEAST_REPLY_BYTES, _Wait(time.monotonic() + seconds))
        self.pid = ready.reply.content
        self.memory = _read_resident_bytes(self.pid)
        self._own_bytes = _read_own_bytes(self.pid)
        self._cpu_seconds = ready.cpu_seconds
        self.is_ready = True

    def perform(
        self,
        request: Sequence[memoryview],
        seconds: float,
        max_bytes: int,
        on_part: Callable[[Any], None] = lambda _part: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> FinalReply:
        """Send an encoded request, pass on the parts of its result, and return its last reply.

        Raise WorkerEnded or WallTimePassed; then, and after the last reply of the worker, it has to
        be ended. A job is told when `is_cancelled` returns True.
        """
        wait = _Wait(time.monotonic() + seconds, is_cancelled)
        self._send(request, wait)
        while True:
            final = self._receive(max(max_bytes, _LEAST_REPLY_BYTES), wait)
            if final.reply.kind is not ReplyKind.PART:
                self._cpu_seconds += final.cpu_seconds
                return final
            on_part(final.reply.content)

    @property
    def growth_bytes(self) -> int:
        """Return the memory of its own that this process has beyond that before its first job."""
        return _read_own_bytes(self.pid) - self._own_bytes if self.is_ready else 0

    def lower_priority(self, nice: int) -> None:
        """Set the priority to that of this process plus `nice`, for good.

        Only a privileged process may raise it again. Call it when the worker is ready.
        """
        self.has_low_priority = True
        nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + nice)
        with contextlib.suppress(ProcessLookupError):  # it has ended: its next job notices
            os.setpriority(os.PRIO_PROCESS, self.pid, nice)

    def kill(self) -> None:
        """Kill the process, from any thread; whoever uses it then gets WorkerEnded."""
        with self._lock:
            if self._death is None and self.pid:
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Death:
        """Kill the process if it still runs, and close its pipes; return how it ended."""
        with self._lock:
            if self._death is None and not self.pid:
                # It ends with its lifeline, if it has been forked at all.
                self._death = Death(0, 0)
                self._close_pipes()
            if self._death is None:
                os.kill(self.pid, signal.SIGKILL)  # no effect on a process that is ending already
                _, status, usage = os.wait4(self.pid, 0)
                code = os.waitstatus_to_exitcode(status)
                if self._process is not None:
                    self._process.returncode = code
                is_own = usage.ru_maxrss > self._parent_peak
                peak = max(self._peak_bytes, usage.ru_maxrss * 1024 if is_own else 0)
                used = usage.ru_utime + usage.ru_stime - self._cpu_seconds
                self._death = Death(max(0, -code), peak, max(0.0, used))
                self._close_pipes()
            return self._death

    def _close_pipes(self) -> None:
        for descriptor in (self._requests, self._replies, self._lifeline):
            os.close(descriptor)

    def _send(self, parts: Sequence[memoryview], wait: "_Wait") -> None:
        for part in parts:
            left = part
            while left:
                self._wait(self._requests, select.POLLOUT, wait)
                try:
                    left = left[os.write(self._requests, left) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise WorkerEnded(str(error)) from None

    def _receive(self, max_bytes: int, wait: "_Wait") -> FinalReply:
        header = self._read(REPLY_HEADER.size, wait)
        length, is_last, cpu_seconds = REPLY_HEADER.unpack(header)
        if length > max_bytes:
            raise WorkerEnded(f"It replied with {length:,} bytes, more than {max_bytes:,}.")
        data = self._read(length, wait)
        try:
            return FinalReply(decode_reply(data, self._classes), is_last, cpu_seconds)
        except Exception as error:
            raise WorkerEnded(f"Its reply cannot be read: {error}") from None

    def _read(self, size: int, wait: "_Wait") -> bytes:
        chunks: list[bytes] = []
        left = size
        while left:
            self._wait(self._replies, select.POLLIN, wait)
            try:
                chunk = os.read(self._replies, min(left, 2**20))
            except BlockingIOError:
                continue
            if not chunk:
                raise WorkerEnded("It has closed its pipe.")
            chunks.append(chunk)
            left -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _wait(self, descriptor: int, event: int, wait: "_Wait") -> None:
        """Wait for a pipe; meanwhile look at the worker's memory, and whether to cancel its job."""
        poll = select.poll()
        poll.register(descriptor, event)
        while not poll.poll(max(0.0, min(_SAMPLE_SECONDS, wait.deadline - time.monotonic())) * 1e3):
            if time.monotonic() >= wait.deadline:
                raise WallTimePassed
            if not wait.was_cancelled and wait.is_cancelled():
                wait.was_cancelled = True
                wait.deadline = min(wait.deadline, time.monotonic() + _CANCEL_SECONDS)
                os.kill(self.pid, CANCEL_SIGNAL)
            self._peak_bytes = max(self._peak_bytes, _read_resident_bytes(self.pid))


def _read_resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended, or if it is unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * getpagesize()
    except (OSError, IndexError):
        return 0


def _read_own_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other; 0 as above.

    Of a forked process it includes the pages of its parent to which it has written.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if "Private_Dirty" in line), 0)
