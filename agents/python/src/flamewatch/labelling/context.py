"""Labels of the running code, in a context variable that the sampler reads without the GIL.

Python already propagates contexts to new asyncio tasks, to thread pools of `asyncio.to_thread` and
asgiref, and to greenlets. The agent needs no code that runs at a task switch.
"""

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar, cast

from flamewatch.labelling.encoding import extend_labels, make_label

P = ParamSpec("P")
R = TypeVar("R")

NONE: Final = b""
RUNNING: Final = contextvars.ContextVar("flamewatch.labels", default=NONE)


class labels:
    """Labels for the code inside, added to the labels around it::

        with flamewatch.labels(endpoint="/pay", tenant=tenant.slug):
            ...

        @flamewatch.labels(job="report")
        async def report(): ...

    They apply in this thread or asyncio task, and in tasks that are started inside. Values are
    converted to text. Use few distinct values, a route rather than a path: one profile holds 256
    combinations.

    Never raises. One object serves one `with` at a time; decorated functions may be called
    concurrently. Decorating a generator has no effect, because its body runs in the caller's loop:
    label the consumer.
    """

    __slots__ = ("_more", "_tokens")

    def __init__(self, **named: object) -> None:
        self._tokens: list[contextvars.Token[bytes]] = []
        self._more = tuple(_make_labels(named))

    def __enter__(self) -> None:
        self._tokens.append(RUNNING.set(extend_labels(RUNNING.get(), self._more)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        reset(self._tokens.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, R]", self._around_async(function))

        @functools.wraps(function)
        def call_with_labels(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._copy():
                return function(*args, **kwargs)

        return call_with_labels

    def _around_async(
        self, function: Callable[P, Coroutine[Any, Any, R]]
    ) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        async def call_with_labels(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._copy():
                return await function(*args, **kwargs)

        return call_with_labels

    def _copy(self) -> "labels":
        """Return a copy for one call, because calls may run concurrently."""
        made = labels()
        made._more = self._more
        return made


def add(name: str, value: object) -> contextvars.Token[bytes]:
    """Add a label until `reset` or the end of the context. For middleware."""
    return RUNNING.set(extend_labels(RUNNING.get(), (make_label(name, value),)))


def reset(token: contextvars.Token[bytes]) -> None:
    # ValueError: the token belongs to another context (async generators that are collected).
    with contextlib.suppress(ValueError):
        RUNNING.reset(token)


def _make_labels(named: dict[str, object]) -> list[tuple[str, str]]:
    """Convert values to labels. A value whose `str` fails must not fail the host's request."""
    found = []
    for name, value in named.items():
        try:
            found.append(make_label(name, value))
        except Exception:
            found.append((name, "(no text)"))
    return found
