"""One worker process, seen from its parent."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getpagesize, getrusage
from typing import NamedTuple

import orjson

from common.worker_processes.messages import REPLY_HEADER, Reply, decode_reply

# Of the environment only what the interpreter and C libraries need: no keys and passwords.
_ENVIRONMENT_PREFIXES = ("ASAN_", "COVERAGE_", "LANG", "LC_", "LD_", "LSAN_", "PYTHON", "UBSAN_")
_ENVIRONMENT = frozenset({"HOME", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV"})
# One thread of OpenBLAS, which otherwise reserves address space for each core.
_SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Replies that are no result: errors with their traceback.
_LEAST_REPLY_BYTES = 256 * 2**10
_SAMPLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """Modules that a worker imports before its first job, and the classes in its replies."""

    preload: Sequence[str]
    classes: Sequence[type]
    nice: int  # added to the priority of the parent

    def configuration(self) -> str:
        classes = [f"{each.__module__}:{each.__qualname__}" for each in self.classes]
        return orjson.dumps(
            {"preload": list(self.preload), "classes": classes, "nice": self.nice}
        ).decode()


class Death(NamedTuple):
    """End of a worker process."""

    signal: int  # 0: it exited by itself
    peak_bytes: int  # its largest resident memory, as far as it is known


class WorkerEnded(Exception):
    """The process has ended, or has sent bytes that no worker sends, before its reply."""


class WallTimePassed(Exception):
    """No reply before the deadline."""


class WorkerProcess:
    """Process started by exec, with three pipes and the standard error of its parent.

    Not thread-safe, except for `kill`.
    """

    def __init__(self, program: WorkerProgram) -> None:
        """Start the process. Raise OSError."""
        self._classes = program.classes
        self._lock = threading.Lock()
        self._death: Death | None = None
        self._peak_bytes = 0  # as far as it was looked at
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        lifeline, self._lifeline = os.pipe()
        command = [sys.executable, "-P", "-m", "common.worker_processes.worker", str(lifeline)]
        try:
            self._process = subprocess.Popen(
                [*command, program.configuration()],
                stdin=requests,
                stdout=replies,
                pass_fds=(lifeline,),
                env=_environment(os.environ),
                cwd="/",
            )
        except BaseException:
            self._close_pipes()
            raise
        finally:
            for descriptor in (requests, replies, lifeline):
                os.close(descriptor)
        # exec counts the memory of its caller as that of the new process: a lower peak is unknown.
        # Read afterwards, because another thread may have made it larger meanwhile.
        self._parent_peak = getrusage(RUSAGE_SELF).ru_maxrss
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        self._is_ready = False
        self.memory = 0  # resident bytes without a job; known when it is ready

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the worker has imported its modules. Raise WorkerEnded or WallTimePassed."""
        if self._is_ready:
            return
        self._receive(_LEAST_REPLY_BYTES, time.monotonic() + seconds)
        self.memory = _read_resident_bytes(self.pid)
        self._is_ready = True

    def perform(
        self, request: Sequence[memoryview], seconds: float, max_bytes: int
    ) -> tuple[Reply, bool]:
        """Send an encoded request; return the reply, and True if the worker ends after it.

        Raise WorkerEnded or WallTimePassed; then, and after the last reply, the worker has to be
        ended.
        """
        deadline = time.monotonic() + seconds
        self._send(request, deadline)
        return self._receive(max(max_bytes, _LEAST_REPLY_BYTES), deadline)

    def kill(self) -> None:
        """Kill the process, from any thread; whoever uses it then gets WorkerEnded."""
        with self._lock:
            if self._death is None:
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Death:
        """Kill the process if it still runs, and close its pipes; return how it ended."""
        with self._lock:
            if self._death is None:
                os.kill(self.pid, signal.SIGKILL)  # no effect on a process that is ending already
                _, status, usage = os.wait4(self.pid, 0)
                self._process.returncode = code = os.waitstatus_to_exitcode(status)
                is_own = usage.ru_maxrss > self._parent_peak
                peak = max(self._peak_bytes, usage.ru_maxrss * 1024 if is_own else 0)
                self._death = Death(max(0, -code), peak)
                self._close_pipes()
            return self._death

    def _close_pipes(self) -> None:
        for descriptor in (self._requests, self._replies, self._lifeline):
            os.close(descriptor)

    def _send(self, parts: Sequence[memoryview], deadline: float) -> None:
        for part in parts:
            left = part
            while left:
                self._wait(self._requests, select.POLLOUT, deadline)
                try:
                    left = left[os.write(self._requests, left) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise WorkerEnded(str(error)) from None

    def _receive(self, max_bytes: int, deadline: float) -> tuple[Reply, bool]:
        length, is_last = REPLY_HEADER.unpack(self._read(REPLY_HEADER.size, deadline))
        if length > max_bytes:
            raise WorkerEnded(f"It replied with {length:,} bytes, more than {max_bytes:,}.")
        data = self._read(length, deadline)
        try:
            return decode_reply(data, self._classes), is_last
        except Exception as error:
            raise WorkerEnded(f"Its reply cannot be read: {error}") from None

    def _read(self, size: int, deadline: float) -> bytes:
        chunks: list[bytes] = []
        left = size
        while left:
            self._wait(self._replies, select.POLLIN, deadline)
            try:
                chunk = os.read(self._replies, min(left, 2**20))
            except BlockingIOError:
                continue
            if not chunk:
                raise WorkerEnded("It has closed its pipe.")
            chunks.append(chunk)
            left -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        """Wait for a pipe, and look at the memory of the worker meanwhile."""
        poll = select.poll()
        poll.register(descriptor, event)
        while not poll.poll(max(0.0, min(_SAMPLE_SECONDS, deadline - time.monotonic())) * 1000):
            if time.monotonic() >= deadline:
                raise WallTimePassed
            self._peak_bytes = max(self._peak_bytes, _read_resident_bytes(self.pid))


def _read_resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended, or if it is unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * getpagesize()
    except (OSError, IndexError):
        return 0


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker, which imports from where this process does."""
    passed = {
        name: value
        for name, value in environment.items()
        if name in _ENVIRONMENT or name.startswith(_ENVIRONMENT_PREFIXES)
    }
    folders = [os.path.abspath(folder) for folder in sys.path]
    path = os.pathsep.join(folder for folder in folders if os.path.exists(folder))
    return {**passed, **_SINGLE_THREAD, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
