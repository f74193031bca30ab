"""Cost of an input: CPU time and peak memory, each bounded by a multiple of its size.

CPU time is counted in steps, iterations of an empty Python loop in the same process, so that the
speed of the machine and its load do not matter much. Memory is what Python's allocator and NumPy's
arrays take at the peak, not what the process keeps.
"""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

_LOOP_STEPS = 200_000
_REPEATS = 3  # of an input that seems to cost too much


@dataclass(frozen=True, slots=True)
class CostBound:
    """Most that one input may cost: a constant, and a multiple of its size in bytes."""

    steps: int = 1_000_000  # about 40 ms
    steps_per_byte: int = 500  # about 20 µs; converting real files takes some 50 to 300
    memory: int = 2**20  # bytes
    memory_per_byte: int = 300  # real files: 100 to 200, most of it for their JSON or their tree
    size: Callable[[bytes], int] = len  # of what is charged, for example after gunzip


# A tree of nodes shares the frames of its stacks, which the profile repeats: any file may have
# FREE_WORK[Work.FRAMES], each of two steps, and of two bytes in the samples and in the profile.
TREE_COST = CostBound(steps=3_000_000, memory=6 * 2**20)


class Cost(NamedTuple):
    steps: int
    memory: int  # bytes


class TooCostly(AssertionError):
    """An input costs more than its bound; `kind` is that of the cost."""

    def __init__(self, kind: str, cost: int, allowed: int, size: int) -> None:
        super().__init__(f"{size:,} bytes took {cost:,} {kind}; {allowed:,} are allowed.")
        self.kind = kind


class CostMeter:
    """Runs inputs of one target while it measures their cost."""

    def __init__(self, bound: CostBound) -> None:
        self._bound = bound
        self._step_seconds = _measure_step()

    def run(self, accepts: Callable[[bytes], str], data: bytes) -> str:
        """Return the outcome of an input. Raise TooCostly if it exceeds the bound each time."""
        size = self._bound.size(data)
        steps = self._bound.steps + self._bound.steps_per_byte * size
        memory = self._bound.memory + self._bound.memory_per_byte * size
        outcome, cost = self._measure(accepts, data)
        for _ in range(_REPEATS - 1):
            if cost.steps <= steps and cost.memory <= memory:
                return outcome
            self._step_seconds = _measure_step()
            outcome, again = self._measure(accepts, data)
            cost = Cost(min(cost.steps, again.steps), min(cost.memory, again.memory))
        if cost.memory > memory:
            raise TooCostly("bytes of memory", cost.memory, memory, size)
        if cost.steps > steps:
            raise TooCostly("steps", cost.steps, steps, size)
        return outcome

    def _measure(self, accepts: Callable[[bytes], str], data: bytes) -> tuple[str, Cost]:
        began = time.thread_time()
        outcome = accepts(data)
        steps = round((time.thread_time() - began) / self._step_seconds)
        return outcome, Cost(steps, _peak_memory(accepts, data))


def _peak_memory(accepts: Callable[[bytes], str], data: bytes) -> int:
    """Run the input once more, because tracing would triple its time."""
    tracemalloc.start()
    try:
        accepts(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _measure_step() -> float:
    """Return the CPU time of a step in seconds."""
    began = time.thread_time()
    for _ in range(_LOOP_STEPS):
        pass
    return (time.thread_time() - began) / _LOOP_STEPS
