"""Python's warning, from 3.12 on, that a process with threads forks.

Where the agent's thread is the only one beside the forking one, the host has done nothing that it
should be warned of, and the agent's thread is made to be forked away from: nothing is imported, and
no lock of Python's is held across a wait. A host with threads of its own is warned as ever.
"""

import contextlib
import re
import sys
import threading
import warnings
from typing import Any

_OURS: Any = (
    "ignore",
    re.compile(r"This process \(pid=\d+\) is multi-threaded"),
    DeprecationWarning,
    None,
    0,
)


def before_fork() -> None:
    """Decides anew each time; what is decided stays, for some versions warn after all hooks."""
    show_again()
    # Not filterwarnings(): that has every warning shown again that was shown once.
    if sys.version_info >= (3, 12) and threading.active_count() == 1:
        warnings.filters.insert(0, _OURS)  # type: ignore[attr-defined]


def show_again() -> None:
    with contextlib.suppress(ValueError):
        warnings.filters.remove(_OURS)  # type: ignore[attr-defined]
