"""Consecutive captures while threads contend for locks, queues and conditions."""

import ctypes
import json
import queue
import resource
import sys
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

lock, rlock = threading.Lock(), threading.RLock()
work: "queue.Queue[int]" = queue.Queue(3)
done = threading.Event()
METHOD_OFFSET = 40  # bytes: of d_method in PyMethodDescrObject
FUNCTION_OFFSET = 8  # bytes: of ml_meth in PyMethodDef


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def read_lock_methods() -> list[int]:
    """Return the C functions of the lock types' methods, which a capture replaces and restores."""
    found = []
    for kind in (type(lock), type(rlock)):
        for name in ("acquire", "__enter__"):
            table = ctypes.c_void_p.from_address(id(vars(kind)[name]) + METHOD_OFFSET).value or 0
            found.append(ctypes.c_void_p.from_address(table + FUNCTION_OFFSET).value or 0)
    return found


def fight() -> None:
    while not done.is_set():
        with lock, rlock, rlock:
            sum(range(500))
        if rlock.acquire(timeout=0.0005):
            rlock.release()


def put() -> None:
    while not done.is_set():
        work.put(1)
    work.put(-1)


def get() -> None:
    while work.get() > 0:
        pass


def capture() -> int:
    _native.start("contention")
    _native.wait(0.002)
    return sum(stack.count for stack in read_stacks(_native.stop()))


cycles = int(sys.argv[1])
before = read_lock_methods()
threads = [threading.Thread(target=target) for target in (fight, fight, fight, put, get)]
for thread in threads:
    thread.start()
waits = sum(capture() for _ in range(50))
size = resident()
waits += sum(capture() for _ in range(cycles))
grown = resident() - size
restored = read_lock_methods() == before
done.set()
for thread in threads:
    thread.join()
print(json.dumps({"waits": waits, "grown": grown, "restored": restored}))
