"""Program with three multiprocessing workers, created by the start method in its argument."""

import multiprocessing
import signal
import sys
import threading
import time

from host_apps import SECONDS, burn


def work() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        burn()
        time.sleep(SECONDS)  # so that three workers need no more than two cores


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    done = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: done.set())
    workers = [context.Process(target=work, daemon=True) for _ in range(3)]
    for worker in workers:
        worker.start()
    done.wait()
    for worker in workers:
        worker.terminate()
        worker.join()
