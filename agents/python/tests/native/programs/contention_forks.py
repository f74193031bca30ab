"""Forks during contention captures, while threads wait: the child's lock methods are restored."""

import json
import os
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

lock = threading.Lock()
done = threading.Event()


def work() -> None:
    while not done.is_set():
        with lock:
            sum(range(5000))


def in_child() -> int:
    if _native.running():
        return 2
    own = threading.Lock()
    own.acquire()
    own.acquire(timeout=0.01)
    _native.after_fork_child()
    _native.start("contention")
    own.acquire(timeout=0.02)
    [stack] = read_stacks(_native.stop())
    return 0 if stack.frames[0].function == "in_child" and stack.value >= 20_000_000 else 3


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
for _ in range(8):
    _native.start("contention")
    _native.wait(0.02)
    child = os.fork()
    if child == 0:
        os._exit(in_child())
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    _native.stop()
done.set()
for thread in threads:
    thread.join()
print(json.dumps({"codes": codes}))
