"""Hundreds of consecutive captures in a process that works meanwhile."""

import json
import resource
import signal
import sys
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

PAGE = resource.getpagesize()
done = threading.Event()


def work() -> None:
    while not done.is_set():
        sorted(range(2000), key=lambda n: -n)


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def timers() -> int:
    with open("/proc/self/timers", encoding="ascii") as file:
        return file.read().count("ID:")


def mappings() -> int:
    with open("/proc/self/maps", encoding="ascii") as file:
        return len(file.readlines())


def capture(n: int) -> None:
    _native.start(("cpu", "wall", "threads")[n % 3], period_us=500)
    _native.wait(0.002)
    read_stacks(_native.stop())


cycles = int(sys.argv[1])
thread = threading.Thread(target=work)
thread.start()
for n in range(60):
    capture(n)
before = resident(), mappings()
for n in range(cycles):
    capture(n)
grown = resident() - before[0], mappings() - before[1]
left = timers()
done.set()
thread.join()
restored = signal.getsignal(signal.SIGURG) == signal.SIG_DFL
print(json.dumps({"grown": grown[0], "mappings": grown[1], "timers": left, "restored": restored}))
