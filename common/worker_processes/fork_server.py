"""Process that has imported the modules of a program, and forks its workers.

Workers share the memory of their imports, and start within milliseconds. The process has one
thread: a fork copies no lock that another thread holds.
"""

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Sequence

from common.worker_processes.program import WorkerProgram

_SET_CHILD_SUBREAPER = 36  # of prctl, Linux


def adopt_orphans() -> bool:
    """Let this process be the parent of its grandchildren whose parent has ended.

    It then learns how the forked workers end. Return False where the system has no such call.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


class ForkServer:
    """Starts the process when it is needed, and again if it has ended. Thread-safe."""

    def __init__(self, program: WorkerProgram) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._lifeline = -1

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
