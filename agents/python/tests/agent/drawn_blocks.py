"""Objects of a memory profile, where some are large and some are small.

Memory is sampled by bytes: a bytearray of 1 MiB is nearly always drawn and stands for 1.16 of its
kind, its own head of 56 bytes for 9,363 if chance draws it, which it does once in 9,363 times.
So a number of objects is right on average; what a test can count on are the large ones.
"""

import sys

from pprof_reader import ReadProfile

MIB = 1 << 20
HEAD = sys.getsizeof(bytearray())


def total_in(found: ReadProfile, function: str, metric: str) -> int:
    at = [name for name, _ in found.metrics].index(metric)
    return sum(
        sample.values[at]
        for sample in found.samples
        if function in {frame.function for frame in sample.frames}
    )


def large_objects(found: ReadProfile, function: str, rounds: int) -> float:
    """Allocated in a function that makes so many bytearrays and nothing else: without heads."""
    objects = total_in(found, function, "alloc_objects")
    of_a_head = found.period / HEAD + 0.5
    heads = round((objects - rounds) / of_a_head)
    assert 0 <= heads <= 5, f"{heads} heads drawn, where {rounds / of_a_head:.2f} are expected"
    return objects - heads * of_a_head
