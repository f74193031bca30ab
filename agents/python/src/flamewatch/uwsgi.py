"""What uWSGI needs to be told before an agent can live in its workers.

It forks without Python's hooks, so that an agent that began before is gone in the workers, and
lets no thread but its own run, unless it is told otherwise.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROGRAMS = {"uwsgi", "uwsgi-core", "pyuwsgi"}
THREADS = "enable-threads"
HOOKS = ("py-call-uwsgi-fork-hooks", "py-call-osafterfork")  # one of them

# uWSGI reads its options from the environment as well.
ENVIRON = {"UWSGI_ENABLE_THREADS": "1", "UWSGI_PY_CALL_UWSGI_FORK_HOOKS": "1"}


def is_uwsgi(program: Sequence[str]) -> bool:
    return Path(program[0]).name in PROGRAMS


def missing(modules: Mapping[str, Any]) -> str:
    """The options that this process's uWSGI lacks, as its user writes them; "" where all is well.

    `modules`: sys.modules; uWSGI puts a module of its own name there.
    """
    options = getattr(modules.get("uwsgi"), "opt", None)
    if not isinstance(options, dict):
        return ""
    known = {name.decode() if isinstance(name, bytes) else str(name) for name in options}
    threads = known & {THREADS, "threads"}
    wanted = [*([] if threads else [THREADS]), *([] if known & {*HOOKS} else [HOOKS[0]])]
    return " and ".join(f"--{name}" for name in wanted)
