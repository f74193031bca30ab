"""Labels of what runs now: a context variable, which the sampler reads without the GIL.

Contexts already go where work goes: into asyncio tasks that are started, thread pools of
`asyncio.to_thread` and asgiref, greenlets. So nothing of ours runs when a task is switched.
"""

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar, cast

from flamewatch.label_text import bounded, extended

P = ParamSpec("P")
R = TypeVar("R")

NONE: Final = b""
RUNNING: Final = contextvars.ContextVar("flamewatch.labels", default=NONE)


class labels:
    """Labels for what runs inside, on top of those around it::

        with flamewatch.labels(endpoint="/pay", tenant=tenant.slug):
            ...

        @flamewatch.labels(job="report")
        async def report(): ...

    In this thread or asyncio task, and in the tasks that are started inside. Values become text.
    Use few distinct ones, a route rather than a path: 256 combinations fit into one profile.
    Never raises. One object serves one `with` at a time; decorated functions may be called side
    by side. A generator is decorated in vain, for it runs elsewhere: label who uses it.
    """

    __slots__ = ("_more", "_tokens")

    def __init__(self, **named: object) -> None:
        self._tokens: list[contextvars.Token[bytes]] = []
        self._more = tuple(_safely_bounded(named))

    def __enter__(self) -> None:
        self._tokens.append(RUNNING.set(extended(RUNNING.get(), self._more)))

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
        def labelled(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._again():
                return function(*args, **kwargs)

        return labelled

    def _around_async(
        self, function: Callable[P, Coroutine[Any, Any, R]]
    ) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        async def labelled(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._again():
                return await function(*args, **kwargs)

        return labelled

    def _again(self) -> "labels":
        """The same labels for another call: calls run side by side."""
        made = labels()
        made._more = self._more
        return made


def add(name: str, value: object) -> contextvars.Token[bytes]:
    """A label from now on, until `reset` or the end of the context: for middlewares."""
    return RUNNING.set(extended(RUNNING.get(), (bounded(name, value),)))


def reset(token: contextvars.Token[bytes]) -> None:
    # ValueError: another context ends it than began it (async generators that are collected).
    with contextlib.suppress(ValueError):
        RUNNING.reset(token)


def _safely_bounded(named: dict[str, object]) -> list[tuple[str, str]]:
    """A value whose `str` fails is the host's fault, and not worth its request."""
    found = []
    for name, value in named.items():
        try:
            found.append(bounded(name, value))
        except Exception:
            found.append((name, "(no text)"))
    return found
