"""Waits for work, which CONTENTION profiles leave out, as code objects of the waiting functions.

A pool thread that waits for something to do, or a thread that waits for an event, does not wait for
a lock that another thread holds; Go's mutex profile shows neither. Waiting for the lock of a queue
itself, which other users of the queue hold, happens in other functions and is reported.
"""

import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple


class IdleWait(NamedTuple):
    """Functions as "module:Class.method": `inner` takes the lock, `outer` calls it ("": any)."""

    inner: str
    outer: str = ""


_CONDITION = "threading:Condition.wait"

IDLE_WAITS = (
    IdleWait(_CONDITION, "threading:Event.wait"),
    IdleWait(_CONDITION, "queue:Queue.get"),
    IdleWait(_CONDITION, "queue:Queue.join"),
    IdleWait(_CONDITION, "multiprocessing.queues:Queue._feed"),
    IdleWait(_CONDITION, "billiard.queues:Queue._feed"),
    IdleWait(_CONDITION, "celery.utils.timer2:Timer._next_entry"),
    IdleWait(_CONDITION, "waitress.task:ThreadedTaskDispatcher.handler_thread"),
    # Joins of threads. In 3.13 and later these waits are in C.
    IdleWait("threading:Thread._wait_for_tstate_lock"),
    IdleWait("threading:_shutdown"),
)

Codes = tuple[tuple[CodeType, CodeType | None], ...]


def idle_codes(modules: Mapping[str, Any] | None = None) -> Codes:
    """Return the code objects of all listed functions that are loaded and written in Python."""
    return tuple(_pairs(sys.modules if modules is None else modules))


def _pairs(modules: Mapping[str, Any]) -> Iterator[tuple[CodeType, CodeType | None]]:
    for wait in IDLE_WAITS:
        inner = _code(modules, wait.inner)
        outer = _code(modules, wait.outer) if wait.outer else None
        if inner is not None and (outer is not None or not wait.outer):
            yield inner, outer


def _code(modules: Mapping[str, Any], name: str) -> CodeType | None:
    module, _, path = name.partition(":")
    found: Any = modules.get(module)
    for part in path.split("."):
        found = _attributes(found).get(part)
    if type(found) is staticmethod:
        found = found.__func__
    return found.__code__ if type(found) is FunctionType else None


def _attributes(owner: Any) -> Mapping[str, Any]:
    """Return the attributes without running the host's code.

    Some modules import others on attribute access.
    """
    for kind in (ModuleType, type):
        if issubclass(type(owner), kind):
            attributes: Mapping[str, Any] = kind.__getattribute__(owner, "__dict__")
            return attributes
    return {}
