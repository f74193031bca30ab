"""Example program of an agent, as a process."""

import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

KEY = "fw_conformance_key_0123456789"
LOG_SECONDS = 20.0


class Program:
    """Running example program with its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self._log = process, log

    @property
    def log(self) -> str:
        return self._log.read_text()

    def wait_for_log(self, text: str) -> None:
        """Return when the log contains the text, or after LOG_SECONDS."""
        deadline = time.monotonic() + LOG_SECONDS
        while text not in self.log and time.monotonic() < deadline:
            time.sleep(0.05)


Run = Callable[..., AbstractContextManager[Program]]
