"""Wall time of the least disturbed call."""

from collections.abc import Callable
from time import perf_counter


def wall_ms(work: Callable[[], object], times: int = 12) -> float:
    """Return the milliseconds of the fastest of `times` calls, after one warm-up call."""
    work()
    spans = []
    for _ in range(times):
        start = perf_counter()
        work()
        spans.append(perf_counter() - start)
    return min(spans) * 1e3
