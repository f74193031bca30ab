"""Lookup of functions that wait for work: only in loaded modules, and only unpatched ones."""

import queue
import threading
from multiprocessing import queues
from types import ModuleType

from flamewatch.capture.idle_waits import IDLE_WAITS, idle_codes

CONDITION = threading.Condition.wait.__code__


def test_waits_of_the_standard_library_are_found() -> None:
    found = idle_codes()
    assert (CONDITION, queue.Queue.get.__code__) in found
    assert (CONDITION, threading.Event.wait.__code__) in found
    feeder = queues.Queue._feed  # type: ignore[attr-defined]  # private
    assert (CONDITION, feeder.__code__) in found


def test_number_of_idle_waits_is_within_the_samplers_limit() -> None:
    assert len(IDLE_WAITS) <= 32


def test_lookup_imports_no_module() -> None:
    assert idle_codes({}) == ()
    assert idle_codes({"threading": threading}) == tuple(
        (CONDITION, other) if other else (inner, None)
        for inner, other in idle_codes()
        if other in (None, threading.Event.wait.__code__)
    )


class Eager(ModuleType):
    """Module that runs code on attribute access, like lazily loading ones."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"asked for {name}")


def test_lookup_does_not_trigger_module_getattr() -> None:
    assert idle_codes({"threading": Eager("threading")}) == ()


def test_patched_function_is_skipped() -> None:
    patched = ModuleType("queue")
    patched.Queue = type("Queue", (), {"get": len})  # type: ignore[attr-defined]
    assert idle_codes({"threading": threading, "queue": patched}) == idle_codes(
        {"threading": threading}
    )
