"""Small pool of daemon threads for file reads.

A read that hangs cannot be interrupted, and the interpreter waits at exit for the threads of a
ThreadPoolExecutor; it does not wait for daemon threads.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue


class FileReaders:
    """Pool of at most `most` threads, started on demand. Further reads are queued.

    A queued read can be cancelled through its future.
    """

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
            self._started += 1  # counted after start(): a failed start does not use up a thread

    def _serve(self) -> None:
        while True:
            _answer(*self._queue.get())
            self._idle.release()


def _answer(future: Future[bytes], read: Callable[[], bytes]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(read())
    except BaseException as error:  # the waiting caller gets it through the future
        future.set_exception(error)
