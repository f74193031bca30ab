"""ASGI middleware that labels requests with their endpoint.

Use `app = flamewatch.middleware.asgi.Middleware(app)`, or in Starlette
`app.add_middleware(Middleware)`. Requests run with the label `endpoint`: the route's pattern
("/orders/{number}") in Starlette, FastAPI and frameworks built on them, the result of
`endpoint(scope)` in others (None: no label).
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from flamewatch.labelling.context import reset
from flamewatch.middleware.endpoint import begin

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
Endpoint = Callable[[Scope], str | None]

_LABELLED = {"http", "websocket"}
_WRONG_METHOD, _FULL = 1, 2  # starlette.routing.Match


class Middleware:
    def __init__(self, app: App, endpoint: Endpoint | None = None) -> None:
        self._app = app
        self._endpoint = endpoint or self._pattern

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        route = self._route(scope) if scope["type"] in _LABELLED else None
        if not route:
            await self._app(scope, receive, send)
            return
        token = begin(route)
        try:
            await self._app(scope, receive, send)
        finally:
            reset(token)

    def _route(self, scope: Scope) -> str | None:
        """Return the label's value, or None on any error: the request has to be served."""
        with contextlib.suppress(Exception):
            return self._endpoint(scope)
        return None

    def _pattern(self, scope: Scope) -> str | None:
        around = scope.get("app", self._app)
        return _matching(getattr(around, "routes", None) or (), scope)


def _matching(routes: Iterable[Any], scope: Scope) -> str | None:
    """Return the pattern of the matching route, with the prefixes of the mounts around it.

    The router repeats this match later: it does not expose its result before it calls the endpoint.
    """
    wrong_method = None
    for route in routes:
        match, inner = route.matches(scope)
        if match.value == _FULL:
            return _join_patterns(route, {**scope, **inner})
        if match.value == _WRONG_METHOD and wrong_method is None:
            wrong_method = _join_patterns(route, {**scope, **inner})
    return wrong_method


def _join_patterns(route: Any, scope: Scope) -> str:
    return str(route.path) + (_matching(getattr(route, "routes", None) or (), scope) or "")
