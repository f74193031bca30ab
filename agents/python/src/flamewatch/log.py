"""Log messages of the agent: few, of bounded length, and never raising in the host.

A host without configured logging gets them on stderr (logging.lastResort).
"""

import contextlib
import logging
import re

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def warn(text: str) -> None:
    # The logger is looked up each time: a dictConfig that disables existing loggers would silence
    # one that was created earlier. A handler of the host may raise; that must not end profiling.
    with contextlib.suppress(Exception):
        logging.getLogger("flamewatch").warning("flamewatch: %s", text)


def one_line(text: str, longest: int = 200) -> str:
    """Reduce text from outside to one line of at most `longest` characters."""
    line = _UNSEEN.sub(" ", text).strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"
