"""Patterns of filter values, matched against function and file names.

Regular expressions are RE2's, like pprof's: matching takes linear time for any pattern, so that a
hostile expression cannot block a worker.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import re2
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Frames
from profiles.engine.cancellation import Check, check_each, never_cancel

MAX_PATTERN = 500  # characters
MAX_PROGRAM = 2**20  # bytes of a compiled expression and its cache
_MAX_SET = 2**26


class BadFilterPattern(ValueError):
    """Invalid filter value; `reason` is the end of the message, without the value."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text}: {reason}.")
        self.reason = reason


def matcher(value: str) -> Callable[[str], bool]:
    """Return a predicate: the text contains the value, or matches it if it is `/an expression/`.

    Raise `BadFilterPattern` if the value is empty, too long, or not a valid RE2 expression.
    """
    if not value:
        raise BadFilterPattern("Empty filter", "enter a part of a name, or /regex/")
    if len(value) > MAX_PATTERN:
        raise BadFilterPattern(
            "Filter too long",
            f"it has {len(value):,} characters, and at most {MAX_PATTERN} are allowed",
        )
    if is_expression(value):
        return _expression(value[1:-1])
    return lambda text: value in text


@lru_cache(maxsize=8)
def set_matcher(values: tuple[str, ...]) -> Callable[[str], Sequence[int]]:
    """Return a function that lists the indexes of the filter values that a text matches.

    It reads the text once for all values, unlike a `matcher` for each. Its automaton may take
    _MAX_SET bytes: the values are our own, never those of a request.
    """
    options = re2.Options()
    options.max_mem = _MAX_SET
    patterns = re2.Set.SearchSet(options)
    for value in values:
        patterns.Add(value[1:-1] if is_expression(value) else re2.escape(value))
    patterns.Compile()
    return lambda text: patterns.Match(text) or ()


def is_expression(value: str) -> bool:
    """Return True if the value is written as `/an expression/`."""
    return len(value) > 2 and value.startswith("/") and value.endswith("/")


def matching_frames(
    frames: Frames, values: Iterable[str], check: Check = never_cancel
) -> NDArray[np.bool_]:
    """Mark the frames whose function or file name matches any of the values, bool [F]."""
    match = [matcher(value) for value in values]
    used = np.unique(np.concatenate([frames.name, frames.file]))
    found = np.zeros(int(used[-1]) + 1 if len(used) else 0, bool)
    found[used] = _any(match, check_each(frames.select_strings(used), check))
    return found[frames.name] | found[frames.file]


def _any(match: Sequence[Callable[[str], bool]], texts: Iterable[str]) -> list[bool]:
    if len(match) == 1:
        return [match[0](text) for text in texts]
    return [any(matches(text) for matches in match) for text in texts]


def _expression(pattern: str) -> Callable[[str], bool]:
    options = re2.Options()
    options.max_mem = MAX_PROGRAM
    options.log_errors = False
    try:
        search = re2.compile(pattern, options=options).search
    except (re2.error, UnicodeError) as error:
        reason = _describe_error(error).removesuffix(f": {pattern}")
        raise BadFilterPattern(f"Invalid regex /{pattern}/", reason) from error
    return lambda text: search(text) is not None


def _describe_error(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
