"""Host that also uses the sampler's signal."""

import json
import signal
import threading
import time

from flamewatch import _native

calls = {"first": 0, "second": 0}


def first(*_: object) -> None:
    calls["first"] += 1


def second(*_: object) -> None:
    calls["second"] += 1


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def handler() -> str:
    current = signal.getsignal(signal.SIGURG)
    return current.__name__ if callable(current) else str(current)


signal.signal(signal.SIGURG, first)
_native.start("cpu", period_us=1000)
busy(0.2)
signal.raise_signal(signal.SIGURG)
busy(0.1)
chained = _native.stop()
signal.raise_signal(signal.SIGURG)
after_chained = dict(calls)

_native.start("cpu", period_us=1000)
busy(0.1)
signal.signal(signal.SIGURG, second)
busy(0.3)
calls_at_takeover = calls["second"]
busy(0.3)
taken = _native.stop()
calls_later = calls["second"]
signal.raise_signal(signal.SIGURG)
print(
    json.dumps(
        {
            "chained_samples": chained["counts"]["samples"],
            "first": after_chained["first"],
            "taken": taken["counts"]["signal_taken"],
            "stray_calls": calls_later - calls_at_takeover,
            "second_still_there": calls["second"] == calls_later + 1,
            "handler": handler(),
            "threads": threading.active_count(),
        }
    )
)
