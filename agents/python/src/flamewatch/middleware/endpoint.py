"""Label `endpoint`: the route of a request, because the number of paths is unbounded."""

import contextvars
from typing import Final

from flamewatch.labelling.context import add

MOST: Final = 500  # distinct routes in a process; real programs have fewer
OTHERS: Final = "(others)"

_labelled_routes: set[str] = set()


def begin(route: str) -> contextvars.Token[bytes]:
    """Set the label to `route` until `labelling.reset`."""
    return add("endpoint", _limit_routes(route))


def _limit_routes(route: str) -> str:
    if route not in _labelled_routes:
        if len(_labelled_routes) >= MOST:
            return OTHERS
        _labelled_routes.add(route)
    return route
