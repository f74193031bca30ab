"""Django middleware: put `"flamewatch.middleware.django.Middleware"` near the top of MIDDLEWARE.

Views, and `process_view` and later steps of the middlewares below this one, run with the label
`endpoint`, the URL pattern ("/orders/<int:number>/"). Sync and async; the body of a streaming
response has no label.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction

from flamewatch.labelling.context import RUNNING, reset
from flamewatch.middleware.endpoint import begin

GetResponse = Callable[[Any], Any]


class Middleware:
    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response
        self._async = iscoroutinefunction(get_response)
        # Django would run a sync process_view of an async stack in another thread.
        self.process_view = _label_async if self._async else _label
        if self._async:
            markcoroutinefunction(self)

    def __call__(self, request: Any) -> Any:
        return self._respond_async(request) if self._async else self._respond(request)

    def _respond(self, request: Any) -> Any:
        token = RUNNING.set(RUNNING.get())
        try:
            return self._get_response(request)
        finally:
            reset(token)

    async def _respond_async(self, request: Any) -> Any:
        token = RUNNING.set(RUNNING.get())
        try:
            response: Awaitable[Any] = self._get_response(request)
            return await response
        finally:
            reset(token)


def _label(request: Any, _view: object, _args: object, _kwargs: object) -> None:
    """Set the label when the URL is resolved. It is reset at the end of the request."""
    match = getattr(request, "resolver_match", None)
    if match is not None:
        begin(f"/{match.route}")


async def _label_async(request: Any, view: object, args: object, kwargs: object) -> None:
    _label(request, view, args, kwargs)
