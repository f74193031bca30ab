"""Exit of the interpreter while a capture runs that is never stopped."""

import sys
import threading
import time

from flamewatch import _native


def work() -> None:
    while True:
        sum(range(1000))


for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
_native.start("cpu" if sys.argv[1] == "cpu" else "wall", period_us=200)
time.sleep(0.2)
print("{}")
