"""Options that uWSGI needs for an agent in its workers.

By default uWSGI forks without Python's fork hooks, so that an agent started before the fork does
not run in the workers, and it runs no threads but its own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROGRAMS = {"uwsgi", "uwsgi-core", "pyuwsgi"}
THREADS = "enable-threads"
HOOKS = ("py-call-uwsgi-fork-hooks", "py-call-osafterfork")  # either of them

# uWSGI also reads options from the environment.
ENVIRON = {"UWSGI_ENABLE_THREADS": "1", "UWSGI_PY_CALL_UWSGI_FORK_HOOKS": "1"}


def is_uwsgi(program: Sequence[str]) -> bool:
    return Path(program[0]).name in PROGRAMS


def missing(modules: Mapping[str, Any]) -> str:
    """Return the options that this process's uWSGI lacks, in command-line form; "" if none.

    `modules` is sys.modules, to which uWSGI adds a module named `uwsgi`.
    """
    options = getattr(modules.get("uwsgi"), "opt", None)
    if not isinstance(options, dict):
        return ""
    option_names = {name.decode() if isinstance(name, bytes) else str(name) for name in options}
    threads = option_names & {THREADS, "threads"}
    missing_options = [
        *([] if threads else [THREADS]),
        *([] if option_names & {*HOOKS} else [HOOKS[0]]),
    ]
    return " and ".join(f"--{name}" for name in missing_options)
