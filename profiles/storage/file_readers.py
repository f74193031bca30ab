"""Threads that read from file systems: a few, and none that keeps the process from ending.

A read that hangs cannot be ended; a pool of the library would be waited for at exit.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue


class FileReaders:
    """At most `most` reads at once; others wait for these, until they are cancelled."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._lock = threading.Lock()
        self._idle = threading.Semaphore(0)
        self._queue: SimpleQueue[tuple[Future[bytes], Callable[[], bytes]]] = SimpleQueue()

    def submit(self, read: Callable[[], bytes]) -> Future[bytes]:
        future: Future[bytes] = Future()
        self._queue.put((future, read))
        if not self._idle.acquire(blocking=False):
            self._start()
        return future

    def _start(self) -> None:
        with self._lock:
            if self._started == self._most:
                return
            name = f"file-reader-{self._started + 1}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()
            self._started += 1  # of a thread that could not be started none is missing later

    def _serve(self) -> None:
        while True:
            _answer(*self._queue.get())
            self._idle.release()


def _answer(future: Future[bytes], read: Callable[[], bytes]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(read())
    except BaseException as error:  # whoever waits for it is told
        future.set_exception(error)
