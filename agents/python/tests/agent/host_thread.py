"""A program whose main thread is not Python's to use: the agent is started in another."""

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
