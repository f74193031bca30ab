"""The label `endpoint`: a route, not a path, of which there is no end."""

import contextvars
from typing import Final

from flamewatch.labelling import add

MOST: Final = 500  # distinct ones in a process; a sane program has fewer
OTHERS: Final = "(others)"

_known: set[str] = set()


def begin(route: str) -> contextvars.Token[bytes]:
    """From now on this runs for `route`, until `labelling.reset`."""
    return add("endpoint", _bounded(route))


def _bounded(route: str) -> str:
    if route not in _known:
        if len(_known) >= MOST:
            return OTHERS
        _known.add(route)
    return route
