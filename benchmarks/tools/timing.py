"""CPU and wall time of one call, the least disturbed of several."""

from collections.abc import Callable
from time import perf_counter, process_time


def cpu_ms(work: Callable[[], object], rounds: int = 15, times: int = 20) -> float:
    """Return the CPU milliseconds of one call.

    The result is the smallest of `rounds` means over `times` calls: the one that was least
    disturbed.
    """
    work()
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        for _ in range(times):
            work()
        best = min(best, process_time() - start)
    return best / times * 1e3


def wall_ms(work: Callable[[], object], times: int = 12) -> float:
    """Return the milliseconds of the fastest of `times` calls, after one warm-up call."""
    work()
    spans = []
    for _ in range(times):
        start = perf_counter()
        work()
        spans.append(perf_counter() - start)
    return min(spans) * 1e3


class Stopwatch:
    """Context manager that measures the CPU milliseconds of its latest block."""

    ms = 0.0

    def __enter__(self) -> None:
        self._start = process_time()

    def __exit__(self, *_: object) -> None:
        self.ms = (process_time() - self._start) * 1e3
