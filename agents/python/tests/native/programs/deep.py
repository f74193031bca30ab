"""Thread with 5,000 nested calls, sampled with several depth limits."""

import json
import sys
import threading

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

sys.setrecursionlimit(20_000)
threading.stack_size(256 << 20)
ready, done = threading.Event(), threading.Event()
DEPTH = 5_000


def bottom() -> None:
    ready.set()
    done.wait()


def deep(n: int) -> None:
    locals_make_frames_wider = (n, n + 1, n + 2)
    if n % 3 == 0:
        deeper(n, *locals_make_frames_wider)
    elif n:
        deep(n - 1)
    else:
        bottom()


def deeper(n: int, *rest: int) -> None:
    if n:
        deep(n - 1)
    else:
        bottom()


thread = threading.Thread(target=deep, args=(DEPTH,))
thread.start()
ready.wait()
results = {}
for limit in (1, 100, 512, 2048):
    _native.start("threads", max_depth=limit, exclude=[_native.thread_id()])
    raw = _native.stop()
    (stack,) = read_stacks(raw)
    names = [f.function for f in stack.frames]
    calls = names[names.index("bottom") + 1 :] if "bottom" in names else []
    # from the bottom: deeper(0), deep(0), deep(1), deep(2), deeper(3), deep(3), ...
    expected = ["deeper", "deep", "deep", "deep"] * len(names)
    results[limit] = {
        "frames": len(names),
        "cut": stack.cut,
        "counted": raw["counts"]["cut"],
        "right": calls == expected[: len(calls)],
    }
_native.start("wall", period_us=1000)
_native.wait(0.2)
walls = [s for s in read_stacks(_native.stop()) if s.thread_id == thread.native_id]
done.set()
thread.join()
print(json.dumps({"threads": results, "wall": [len(s.frames) for s in walls]}))
