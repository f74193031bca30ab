"""Stack of functions whose names and file are not ASCII, in each of Python's string widths."""

import json
import threading
from collections.abc import Callable

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

NAMES = ["plain", "gr\u00fc\u00dfe", "\u0436\u6f22\u5b57", "\U00010400x", "n" * 300]
FILE = "/tmp/\u00e9\u4e2d\U0001f525.py"
inner: Callable[[], object]
ready, done = threading.Event(), threading.Event()


def wait() -> None:
    ready.set()
    done.wait()


inner = wait
for name in NAMES:
    space: dict[str, Callable[[], object]] = {"inner": inner}
    exec(compile(f"\n\ndef {name}():\n    inner()\n", FILE, "exec"), space)
    inner = space[name]
thread = threading.Thread(target=inner)
thread.start()
ready.wait()
_native.start("threads")
stacks = read_stacks(_native.stop())
done.set()
(stack,) = [s for s in stacks if s.thread_id == thread.native_id]
made = [f for f in stack.frames if f.file == FILE]
print(
    json.dumps(
        {"names": [f.function for f in made], "lines": [(f.first_line, f.line) for f in made]}
    )
)
