"""Example program of an agent, as a process."""

import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

KEY = "fw_conformance_key_0123456789"


class Program:
    """Running example program with its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self._log = process, log

    @property
    def log(self) -> str:
        return self._log.read_text()


Run = Callable[..., AbstractContextManager[Program]]
