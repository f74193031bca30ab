"""Filter for Python's warning (3.12 and later) about forking a process that has threads.

If the agent's thread is the only one beside the forking one, the warning is suppressed: the host
did nothing to be warned of, and the agent's thread tolerates a fork, because it imports nothing and
holds no lock of Python's while it waits. A host with threads of its own is warned as usual.
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
    """Suppress the warning if the agent's thread is the only other one.

    The filter stays after the fork, because some versions warn after all hooks have run.
    """
    show_again()
    # Not filterwarnings(): it resets the registry, and every warning that was shown once would be
    # shown again.
    if sys.version_info >= (3, 12) and threading.active_count() == 1:
        warnings.filters.insert(0, _OURS)  # type: ignore[attr-defined]


def show_again() -> None:
    with contextlib.suppress(ValueError):
        warnings.filters.remove(_OURS)  # type: ignore[attr-defined]
