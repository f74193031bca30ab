"""More distinct stacks than the tables of a capture can hold."""

import json
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

done = threading.Event()
THREADS = 80


def descend(n: int) -> None:
    if n:
        return descend(n - 1) if n % 2 else descend_elsewhere(n - 1)
    done.wait()
    return None


def descend_elsewhere(n: int) -> None:
    return descend(n - 1) if n else None


threads = [threading.Thread(target=descend, args=(2 * n + 301,)) for n in range(THREADS)]
for thread in threads:
    thread.start()
while any(t.native_id is None for t in threads):
    pass
_native.wait(0.3)
_native.start("wall", period_us=1000, max_bytes=1 << 18, exclude=[_native.thread_id()])
_native.wait(0.5)
raw = _native.stop()
done.set()
total = sum(s.value for s in read_stacks(raw))
print(
    json.dumps(
        {
            "stored": total / raw["duration_ns"],
            "lost": raw["counts"]["lost"] / raw["duration_ns"],
            "counts": raw["counts"],
        }
    )
)
