"""Forks while memory is counted and other threads allocate: the child counts from zero."""

import json
import os
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

done = threading.Event()


def work() -> None:
    while not done.is_set():
        [bytes(700) for _ in range(100)]


def allocated(n: int) -> list[bytes]:
    return [bytes(5000) for _ in range(n)]


def in_child(parents: list[bytes]) -> int:
    if not _native.heap_running():
        return 2
    parents.clear()  # sampled in the parent, unknown in the child
    own = allocated(100)
    stacks = read_stacks(_native.heap_read("heap"))
    used = sum(s.value for s in stacks if "allocated" in {f.function for f in s.frames})
    return 0 if 500_000 <= used <= 520_000 and own else 3


_native.heap_start(samples_per_second=1 << 30, mean_bytes=1, raw=True)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
codes = []
for _ in range(12):
    blocks = allocated(50)
    child = os.fork()
    if child == 0:
        os._exit(in_child(blocks))
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
for thread in threads:
    thread.join()
_native.heap_stop()
print(json.dumps({"codes": codes}))
