"""Consecutive threads that each use the given number of milliseconds of CPU time."""

import json
import sys
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

EACH = int(sys.argv[1]) / 1000
used = 0


def brief() -> None:
    global used
    end = time.thread_time() + EACH
    while time.thread_time() < end:
        sum(range(500))
    used += time.thread_time_ns()


_native.start("cpu")
end = time.monotonic() + 4
while time.monotonic() < end:
    thread = threading.Thread(target=brief)
    thread.start()
    thread.join()
raw = _native.stop()
stacks = read_stacks(raw)
seen = sum(s.value for s in stacks if "brief" in {f.function for f in s.frames})
print(json.dumps({"seen": seen, "used": used, "overdue": raw["counts"]["overdue"]}))
