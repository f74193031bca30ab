"""Thread that blocks all signals, like threads that leave them to another thread."""

import json
import signal
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

used = 0


def deaf() -> None:
    global used
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    begun = time.thread_time_ns()
    while time.thread_time_ns() < begun + 1_000_000_000:
        sum(range(500))
    used = time.thread_time_ns()


def deaf_and_asleep() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    gate.wait()


gate = threading.Event()
thread, sleeper = threading.Thread(target=deaf), threading.Thread(target=deaf_and_asleep)
_native.start("cpu", period_us=2000)
thread.start()
sleeper.start()
thread.join()
raw = _native.stop()
gate.set()
stacks = read_stacks(raw)


def seen(name: str) -> int:
    return sum(s.value for s in stacks if name in {f.function for f in s.frames})


print(
    json.dumps(
        {
            "seen": seen("deaf"),
            "used": used,
            "asleep": seen("deaf_and_asleep"),
            "overdue": raw["counts"]["overdue"],
        }
    )
)
