"""Pool threads that wait for work beside threads that contend for locks.

Prints the delay of each function in nanoseconds, with waits for work left out ("out") or included
("included"), and the true delay of the locks.
"""

import json
import multiprocessing
import queue
import threading
import time
from collections import Counter
from multiprocessing import queues

from flamewatch import _native
from flamewatch.capture.idle_waits import idle_codes
from flamewatch.capture.stacks import read_stacks

truth: Counter[str] = Counter()
stop = threading.Event()


class Busy(queue.Queue[int]):
    """Queue whose mutex is held for long, so that its users contend for it."""

    def _put(self, item: int) -> None:
        time.sleep(0.004)
        super()._put(item)


def pool_thread(work: "queue.Queue[int]") -> None:
    while work.get() >= 0:
        pass


def listener(event: threading.Event) -> None:
    event.wait(5)


def joins(thread: threading.Thread) -> None:
    thread.join()


def fights(lock: threading.Lock) -> None:
    for _ in range(40):
        began = time.monotonic_ns()
        with lock:
            truth["fights"] += time.monotonic_ns() - began
            time.sleep(0.004)


def puts(work: Busy) -> None:
    for n in range(40):
        work.put(n)


def feeds(sent: "queues.Queue[int]") -> None:
    """Wake the feeder of a multiprocessing queue, which waits for more afterwards."""
    for n in range(5):
        sent.put(n)
        time.sleep(0.02)


def run() -> dict[str, int]:
    lock, work, busy, event = threading.Lock(), queue.Queue[int](), Busy(), threading.Event()
    sent = multiprocessing.get_context("fork").Queue()
    idle = [threading.Thread(target=pool_thread, args=(work,)) for _ in range(8)]
    idle.append(threading.Thread(target=listener, args=(event,)))
    fighters = [threading.Thread(target=fights, args=(lock,)) for _ in range(3)]
    producers = [threading.Thread(target=puts, args=(busy,)) for _ in range(3)]
    feeder = threading.Thread(target=feeds, args=(sent,))
    joiner = threading.Thread(target=joins, args=(fighters[0],))
    active = [*fighters, *producers, feeder]
    for thread in [*idle, *active, joiner]:
        thread.start()
    while any(thread.is_alive() for thread in active):
        work.put(1)
        time.sleep(0.02)
    event.set()
    for _ in range(8):
        work.put(-1)
    for thread in [*idle, joiner]:
        thread.join()
    delay: Counter[str] = Counter()
    raw = _native.stop()
    for stack in read_stacks(raw):
        delay.update({frame.function: stack.value for frame in stack.frames})
    return {**delay, "left out": raw["counts"]["idle"]}


result = {}
for name, idle in (("out", idle_codes()), ("included", ())):
    truth.clear()
    _native.start("contention", idle=idle)
    result[name] = run()
    result[f"truth {name}"] = truth["fights"]
print(json.dumps(result))
