"""Crowd of threads that wait in two functions."""

import json
import sys
import threading
import time
from collections import Counter

from flamewatch import _native
from flamewatch.capture.stacks import Stack, read_stacks

each = int(sys.argv[1])
threading.stack_size(128 << 10)
started = threading.Barrier(2 * each + 1)
done = threading.Event()


def here() -> None:
    started.wait()
    done.wait()


def there() -> None:
    started.wait()
    done.wait()


def function_counts(stacks: list[Stack]) -> Counter[str]:
    found: Counter[str] = Counter()
    for stack in stacks:
        names = {f.function for f in stack.frames}
        found.update({n: stack.value for n in ("here", "there", "<module>") if n in names})
    return found


threads = [threading.Thread(target=f) for f in (here, there) for _ in range(each)]
for thread in threads:
    thread.start()
started.wait()
while any(thread.native_id is None for thread in threads):
    time.sleep(0.01)
time.sleep(0.3)  # time to get from the barrier to the event
_native.start("threads")
apart = read_stacks(_native.stop())
_native.start("threads", per_thread=False, exclude=[_native.thread_id()])
together = read_stacks(_native.stop())
_native.start("wall", period_us=2000, max_threads=20)
_native.wait(1)
raw = _native.stop()
wall = function_counts(read_stacks(raw))
done.set()
for thread in threads:
    thread.join()
print(
    json.dumps(
        {
            "apart": function_counts(apart),
            "stacks_apart": len(apart),
            "together": function_counts(together),
            "stacks_together": len(together),
            "wall": {name: value / raw["duration_ns"] for name, value in wall.items()},
            "counts": raw["counts"],
            "sampler_share": raw["sampler_cpu_ns"] / raw["duration_ns"],
        }
    )
)
