"""Work of a shop's request, with something to see for each profile type."""

import queue
import threading
import time

cache: list[bytearray] = []
orders: "queue.Queue[int]" = queue.Queue()
stock = threading.Lock()


def price() -> None:
    """Burn CPU time (CPU, WALL)."""
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        sum(range(300))


def render() -> int:
    """Allocate 8 MiB, freed at once (HEAP_ALLOC)."""
    return sum(len(bytearray(1 << 20)) for _ in range(8))


def remember() -> None:
    """Keep the newest 64 MiB (HEAP)."""
    cache.append(bytearray(1 << 20))
    del cache[:-64]


def reserve() -> None:
    """Hold the lock that others fight for (CONTENTION)."""
    with stock:
        time.sleep(0.002)


def ship() -> None:
    """Wait for work, as an idle thread of a pool does (THREADS, WALL)."""
    while True:
        orders.get()


def warehouse() -> None:
    while True:
        reserve()


def open_shop() -> None:
    """Start the threads of this process, once."""
    if not any(thread.name == "ship" for thread in threading.enumerate()):
        for work in (ship, ship, ship, warehouse, warehouse):
            threading.Thread(target=work, name=work.__name__, daemon=True).start()


def checkout() -> None:
    open_shop()
    price()
    render()
    remember()
    reserve()
