"""Program that worker processes run: what they import, and how their process is started."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

# Of the environment only what the interpreter and C libraries need: no keys and passwords.
_ENVIRONMENT_PREFIXES = ("ASAN_", "COVERAGE_", "LANG", "LC_", "LD_", "LSAN_", "PYTHON", "UBSAN_")
_ENVIRONMENT = frozenset({"HOME", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV"})
# One thread of OpenBLAS, which otherwise reserves address space for each core.
_SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """Modules that a worker imports before its first job, and the classes in its replies."""

    preload: Sequence[str]
    classes: Sequence[type]
    nice: int  # added to the priority of the parent
    # The same for jobs of tenants that have cost much lately; None: no difference.
    costly_nice: int | None = None
    name: str = "worker"  # of the process, at most 15 characters
    # A worker that has grown more than this by its jobs, after it gave back what it could, is
    # replaced. Starting one takes 0.2 s of CPU time and more, by its modules.
    max_growth_bytes: int = 8 * 2**20
    # Environment and working folder of the parent, for programs that are configured by them. A
    # program that reads bytes of strangers has no use for keys and passwords.
    inherits_environment: bool = False
    # Workers are forked by a process that has imported the modules, where the system allows it:
    # for programs that take long to import and much memory.
    is_forked: bool = False
    preload_in_worker: Sequence[str] = ()  # modules that start threads or open files

    def configuration(self) -> str:
        classes = [f"{each.__module__}:{each.__qualname__}" for each in self.classes]
        return orjson.dumps(
            {
                "preload": list(self.preload),
                "classes": classes,
                "nice": self.nice,
                "name": self.name,
                "max_growth_bytes": self.max_growth_bytes,
                "preload_in_worker": [*self.preload_in_worker],
            }
        ).decode()

    def start_process(
        self, lifeline: int, stdin: int, stdout: int, control: int | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start a process of the program; it gets the read end of a lifeline.

        With a control socket it only forks workers. Raise OSError.
        """
        given = (lifeline,) if control is None else (lifeline, control)
        options = [str(lifeline), self.configuration(), *map(str, given[1:])]
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "common.worker_processes.worker", *options],
            stdin=stdin,
            stdout=stdout,
            pass_fds=given,
            env=_environment(os.environ, self.inherits_environment),
            cwd=None if self.inherits_environment else "/",
        )


def _environment(environment: Mapping[str, str], is_whole: bool) -> dict[str, str]:
    """Return the environment of a worker, which imports from where this process does."""
    passed = {
        name: value
        for name, value in environment.items()
        if is_whole or name in _ENVIRONMENT or name.startswith(_ENVIRONMENT_PREFIXES)
    }
    folders = [os.path.abspath(folder) for folder in sys.path]
    path = os.pathsep.join(folder for folder in folders if os.path.exists(folder))
    return {**passed, **_SINGLE_THREAD, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
