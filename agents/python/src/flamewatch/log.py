"""The agent's lines in its host's log: few, bounded, and never the host's trouble.

A host without logging set up sees them on stderr (logging.lastResort).
"""

import contextlib
import logging
import re

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def warn(text: str) -> None:
    # Looked up each time: a dictConfig that disables existing loggers would silence one made early.
    # A host's handler may raise; it must not end profiling.
    with contextlib.suppress(Exception):
        logging.getLogger("flamewatch").warning("flamewatch: %s", text)


def one_line(text: str, longest: int = 200) -> str:
    """Text from outside as a part of a log line."""
    line = _UNSEEN.sub(" ", text).strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"
