"""State of a host before, during and after captures: thread names, signals, errno."""

import ctypes
import json
import os
import threading
from pathlib import Path

from seccomp import deny

from flamewatch import _native

TASKS = Path("/proc/self/task")
SIGNALS = ("SigBlk", "SigIgn", "SigCgt")
done = threading.Event()


def names() -> dict[str, str]:
    return {task.name: (task / "comm").read_text().strip() for task in TASKS.iterdir()}


def signals() -> dict[str, list[str]]:
    """Return the blocked, ignored and caught signals of each thread."""
    return {
        task.name: [
            line for line in (task / "status").read_text().splitlines() if line[:6] in SIGNALS
        ]
        for task in TASKS.iterdir()
    }


def seen() -> dict[str, object]:
    return {"names": names(), "signals": signals()}


def capture(kind: str) -> dict[str, object]:
    _native.start(kind)  # type: ignore[arg-type]
    _native.wait(0.05)
    during = seen()
    _native.stop()
    return during


def errno_after(kind: str) -> list[int]:
    """Return errno after a long C call that does not set it, while all samples fail to be read."""
    library = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(64 << 20)
    _native.start(kind, period_us=1000)  # type: ignore[arg-type]
    deny("process_vm_readv")
    found = []
    for number in range(70, 90):
        ctypes.set_errno(number)
        library.memset(buffer, 1, ctypes.c_size_t(len(buffer)))
        found.append(ctypes.get_errno())
    torn = _native.stop()["counts"]["torn"]
    assert torn > 0
    return found


thread = threading.Thread(target=done.wait)
thread.start()
os.write(os.open(TASKS / str(thread.native_id) / "comm", os.O_WRONLY), b"the host's own")
_native.supported()
before = seen()
during = {kind: capture(kind) for kind in ("cpu", "wall", "threads", "contention")}
_native.heap_start()
_native.heap_stop()
after = seen()
print(
    json.dumps(
        {
            "before": before,
            "during": during,
            "after": after,
            "errno": errno_after("cpu"),
        }
    ),
    flush=True,
)
done.set()
thread.join()
