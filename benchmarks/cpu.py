"""CPU time of one call."""

from collections.abc import Callable
from time import process_time


def cpu_ms(work: Callable[[], object], rounds: int = 15, times: int = 20) -> float:
    """CPU milliseconds of one call: the least disturbed of `rounds` means over `times` calls."""
    work()
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        for _ in range(times):
            work()
        best = min(best, process_time() - start)
    return best / times * 1e3


class Stopwatch:
    """CPU milliseconds of what was done inside it last."""

    ms = 0.0

    def __enter__(self) -> None:
        self._start = process_time()

    def __exit__(self, *_: object) -> None:
        self.ms = (process_time() - self._start) * 1e3
