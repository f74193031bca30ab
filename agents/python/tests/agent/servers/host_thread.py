"""Program that starts the agent in a thread other than the main one, which only waits."""

import signal
import threading

from host_apps import burn

import flamewatch


def main() -> None:
    flamewatch.start()
    while not done.is_set():
        burn()


done = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: done.set())
thread = threading.Thread(target=main)
thread.start()
thread.join()
