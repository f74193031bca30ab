"""Burn CPU time, allocate memory and wait for a lock, with the agent started.

Its settings come from the environment; it ends on SIGINT or SIGTERM.
"""

import signal
import threading
import time

import flamewatch

ended = threading.Event()
lock = threading.Lock()
rounds = [0]  # of burn_cpu; more per second of CPU time is less overhead
blocks: list[bytearray] = []


def burn_cpu() -> None:
    rounds[0] += 1
    total = 0.0
    for number in range(20_000):
        total += number * 1.000001
    time.sleep(0.002)


def allocate() -> None:
    blocks.append(bytearray(256 * 1024))
    if len(blocks) > 100:
        del blocks[:50]  # never all of them: a heap profile is of one moment
    time.sleep(0.005)


def hold_lock() -> None:
    with lock:
        time.sleep(0.005)
    time.sleep(0.001)


def repeat(job) -> None:
    while not ended.is_set():
        job()


def main() -> None:
    flamewatch.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    threads = [
        threading.Thread(target=repeat, args=(job,))
        for job in (burn_cpu, allocate, hold_lock, hold_lock)
    ]
    for thread in threads:
        thread.start()
    ended.wait()
    for thread in threads:
        thread.join()
    flamewatch.stop()
    print("rounds", *rounds)


if __name__ == "__main__":
    main()
