"""Forks during captures; each child makes a capture of its own."""

import json
import os
import signal
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

done = threading.Event()


def work(until: threading.Event) -> None:
    while not until.is_set():
        sum(range(1000))


def in_child() -> int:
    if _native.running() or len(os.listdir("/proc/self/task")) != 1:
        return 2
    with open("/proc/self/timers", encoding="ascii") as file:
        if file.read():
            return 3
    os.kill(os.getpid(), signal.SIGURG)  # without a handler: ignored, as before
    _native.after_fork_child()
    _native.start("cpu", period_us=1000)
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        sum(range(1000))
    stacks = read_stacks(_native.stop())
    return 0 if any("in_child" in {f.function for f in s.frames} for s in stacks) else 4


thread = threading.Thread(target=work, args=(done,))
thread.start()
codes = []
samples = 0
for n in range(12):
    _native.start("cpu" if n % 2 else "wall", period_us=500)
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        os._exit(in_child())
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    samples += _native.stop()["counts"]["samples"]
done.set()
thread.join()
print(json.dumps({"codes": codes, "samples": samples}))
