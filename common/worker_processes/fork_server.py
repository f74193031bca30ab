"""Process that has imported the modules of a program, and forks its workers.

Workers share the memory of their imports, and start within milliseconds. The process has one
thread: a fork copies no lock that another thread holds.
"""

import ctypes
import gc
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence
from typing import Protocol

from common.worker_processes.program import WorkerProgram
from common.worker_processes.worker import become_fork_server

_SET_CHILD_SUBREAPER = 36  # of prctl, Linux


def adopt_orphans() -> bool:
    """Let this process be the parent of its grandchildren whose parent has ended.

    It then learns how the forked workers end. Return False where the system has no such call.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


class ProcessHandle(Protocol):
    """Process that was started or forked; subprocess.Popen implements it."""

    pid: int

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


class _ForkedProcess:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


class ForkServer:
    """Starts the process when it is needed, and again if it has ended. Thread-safe."""

    def __init__(self, program: WorkerProgram) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._process: ProcessHandle | None = None
        self._control: socket.socket | None = None
        self._lifeline = -1

    def fork_this_process(self) -> bool:
        """Make a fork of this process the one that forks workers: they share its imports.

        Call it as long as this process has one thread, and neither sockets nor connections. Return
        False if it has more threads; then the process is started by exec when it is needed.
        """
        if len(os.listdir("/proc/self/task")) > 1:
            return False
        gc.collect()
        gc.freeze()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lifeline, self._lifeline = os.pipe()
        pid = os.fork()
        if pid == 0:
            become_fork_server(lifeline, self._program.configuration(), theirs.fileno())
        os.close(lifeline)
        theirs.close()
        self._process, self._control = _ForkedProcess(pid), ours
        return True

    def fork(self, program: WorkerProgram, descriptors: Sequence[int]) -> None:
        """Fork a worker that takes these descriptors, without waiting for it. Raise OSError.

        Its program is that of the server, or has the same modules and at most its priority.
        """
        with self._lock:
            control = self._control
            if control is None or self._process is None or self._process.poll() is not None:
                control = self._start()
            socket.send_fds(control, [program.configuration().encode()], [*descriptors])

    def stop(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._close()
                self._process = None

    def _start(self) -> socket.socket:
        self._close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lifeline, self._lifeline = os.pipe()
        self._control = ours
        nothing = subprocess.DEVNULL
        try:
            self._process = self._program.start_process(lifeline, nothing, nothing, theirs.fileno())
        finally:
            os.close(lifeline)
            theirs.close()
        return ours

    def _close(self) -> None:
        if self._control is not None:
            self._control.close()
            os.close(self._lifeline)
            self._control = None
