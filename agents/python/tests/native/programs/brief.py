"""Threads one after the other that each live for less than two periods of CPU time."""

import json
import sys
import threading
import time

from flamewatch import _native
from flamewatch.stacks import read_stacks

used = 0


def brief() -> None:
    global used
    end = time.thread_time() + 0.015
    while time.thread_time() < end:
        sum(range(500))
    used += time.thread_time_ns()


_native.start("cpu")
end = time.monotonic() + 4
while time.monotonic() < end:
    thread = threading.Thread(target=brief)
    thread.start()
    thread.join()
stacks = read_stacks(_native.stop())
seen = sum(s.value for s in stacks if "brief" in {f.function for f in s.frames})
print(json.dumps({"seen": seen, "used": used, "version": sys.version_info[:2]}))
