"""Patterns: what the value of a filter matches, functions and files alike.

Regular expressions are RE2's, as pprof's are: their time is linear in the text, whatever the
pattern, so that a stranger's expression cannot hold a worker.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import re2
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Frames
from profiles.engine.cancellation import looked

MAX_PATTERN = 500  # characters
MAX_PROGRAM = 2**20  # bytes of a compiled expression and what it caches


class BadFilterPattern(ValueError):
    """A filter's value cannot be used; the text is a sentence that says why."""


def matcher(value: str) -> Callable[[str], bool]:
    """Whether a text contains the value, or matches it if it is `/an expression/`.

    BadPattern if the value is empty or too long, or no expression of RE2.
    """
    if not value:
        raise BadFilterPattern("A filter has no value; give a part of a name, or /an expression/.")
    if len(value) > MAX_PATTERN:
        raise BadFilterPattern(
            f"A filter's value may have {MAX_PATTERN} characters; this one has {len(value)}."
        )
    if is_expression(value):
        return _expression(value[1:-1])
    return lambda text: value in text


def is_expression(value: str) -> bool:
    return len(value) > 2 and value.startswith("/") and value.endswith("/")


def matching_frames(frames: Frames, values: Iterable[str]) -> NDArray[np.bool_]:
    """Which frames, bool [F], any of the values matches by function or by file."""
    match = [matcher(value) for value in values]
    used = np.unique(np.concatenate([frames.name, frames.file]))
    found = np.zeros(int(used[-1]) + 1 if len(used) else 0, bool)
    found[used] = _any(match, (frames.strings[i] for i in used.tolist()))
    return found[frames.name] | found[frames.file]


def _any(match: Sequence[Callable[[str], bool]], texts: Iterable[str]) -> list[bool]:
    return [any(matches(text) for matches in match) for text in looked(texts)]


def _expression(pattern: str) -> Callable[[str], bool]:
    options = re2.Options()
    options.max_mem = MAX_PROGRAM
    options.log_errors = False
    try:
        search = re2.compile(pattern, options=options).search
    except (re2.error, UnicodeError) as error:
        raise BadFilterPattern(
            f"The expression /{pattern}/ cannot be read: {_why(error)}."
        ) from error
    return lambda text: search(text) is not None


def _why(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
