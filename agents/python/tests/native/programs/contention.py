"""Threads that wait for each other's locks, and measure the waits themselves.

Usage: contention.py lock|rlock|condition|open|free
"""

import json
import queue
import sys
import threading
import time
from collections import Counter

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

truth: Counter[str] = Counter()
counts: Counter[str] = Counter()
done = threading.Event()


def measured(name: str, began: int) -> None:
    truth[name] += time.monotonic_ns() - began
    counts[name] += 1


def with_lock(lock: "threading.Lock | threading.RLock") -> None:
    began = time.monotonic_ns()
    with lock:
        measured("with_lock", began)
        time.sleep(0.012)


def with_acquire(lock: "threading.Lock | threading.RLock") -> None:
    began = time.monotonic_ns()
    lock.acquire()
    measured("with_acquire", began)
    time.sleep(0.006)
    lock.release()


def with_timeout(lock: "threading.Lock | threading.RLock") -> None:
    began = time.monotonic_ns()
    if lock.acquire(blocking=True, timeout=0.003):
        lock.release()
    measured("with_timeout", began)


def never_waits(lock: "threading.Lock | threading.RLock") -> None:
    if lock.acquire(blocking=False) and lock.acquire(False) is not None:
        lock.release()
    if lock.acquire(timeout=0):
        lock.release()


def alone(lock: "threading.Lock | threading.RLock") -> None:
    with lock:
        pass
    assert lock.acquire(True, -1) is True
    lock.release()
    for wrong in ((True, -2), (False, 1), ("x", "y", "z")):
        try:
            lock.acquire(*wrong)  # type: ignore[call-overload]
        except (ValueError, TypeError):
            counts["errors"] += 1
    try:
        lock.acquire(block=True)  # type: ignore[call-overload]
    except TypeError:
        counts["errors"] += 1


def fight(make: "type[threading.Lock] | type[threading.RLock]") -> None:
    lock, own, locked = make(), make(), threading.Lock()
    functions = {with_lock: lock, with_acquire: lock, with_timeout: lock, never_waits: locked}
    locked.acquire()
    threads = []

    def work(acquire, lock) -> None:  # type: ignore[no-untyped-def]
        for _ in range(80):
            acquire(lock)
            time.sleep(0.001)  # else a thread may take its lock again before others, all 80 times

    for function, about in functions.items():
        threads.append(threading.Thread(target=work, args=(function, about)))
    for thread in threads:
        thread.start()
    for _ in range(100):
        alone(own)
    for thread in threads:
        thread.join()


def waits_for_work(work: "queue.Queue[int]") -> None:
    while True:
        began = time.monotonic_ns()
        got = work.get()
        measured("waits_for_work", began)
        if got < 0:
            return


def condition() -> None:
    work: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=waits_for_work, args=(work,))
    thread.start()
    for n in range(50):
        time.sleep(0.005)
        work.put(n)
    work.put(-1)
    thread.join()


def stays(lock: threading.Lock) -> None:
    with lock:
        pass


def still_open() -> dict[str, object]:
    """Capture a wait that ends after the capture, and one that began before it."""
    lock = threading.Lock()
    lock.acquire()
    before = threading.Thread(target=stays, args=(lock,))
    before.start()
    _native.wait(0.1)
    _native.start("contention")
    began = time.monotonic_ns()
    thread = threading.Thread(target=stays, args=(lock,))
    thread.start()
    _native.wait(0.3)
    raw = _native.stop()
    lasted = time.monotonic_ns() - began
    _native.start("contention")
    lock.release()
    thread.join()
    before.join()
    later = _native.stop()
    return {
        "seen": sum(s.value for s in read_stacks(raw)),
        "lasted": lasted,
        "later": sum(s.value for s in read_stacks(later)),
    }


def again(lock: threading.RLock) -> None:
    with lock, lock:
        pass
    lock.acquire()
    lock.release()


def nobody_else() -> dict[str, int]:
    """Count trial acquisitions of a lock that no other thread uses, and of one that is taken."""
    tried = {}
    for name, lock in {"free": threading.Lock(), "recursive": threading.RLock()}.items():
        _native.start("contention")
        for _ in range(100):
            again(lock) if name == "recursive" else alone(lock)
        tried[name] = _native.stop()["counts"]["tried"]
    locked = threading.Lock()
    _native.start("contention")
    with locked:
        for _ in range(100):
            locked.acquire(timeout=1e-6)
    tried["held"] = _native.stop()["counts"]["tried"]
    return tried


def watched() -> dict[str, object]:
    kind = sys.argv[1]
    if kind == "condition":
        condition()
    else:
        fight(threading.Lock if kind == "lock" else threading.RLock)
    raw = _native.stop()
    delay: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for stack in read_stacks(raw):
        for name in {frame.function for frame in stack.frames}:
            delay[name] += stack.value
            seen[name] += stack.count
    return {
        "truth": truth,
        "counts": counts,
        "delay": delay,
        "seen": seen,
        "leaves": sorted({s.frames[0].function for s in read_stacks(raw)}),
    }


if sys.argv[1] == "open":
    print(json.dumps(still_open()))
elif sys.argv[1] == "free":
    print(json.dumps(nobody_else()))
else:
    _native.start("contention")
    print(json.dumps(watched()))
