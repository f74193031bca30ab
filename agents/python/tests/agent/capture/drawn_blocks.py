"""Object counts of a memory profile of large and small blocks.

Memory is sampled by bytes: a bytearray of 1 MiB is nearly always sampled and has a weight of 1.16;
its header of 56 bytes is sampled once in 9,363 times, with a weight of 9,363. So the number of
objects is right on average, and tests compare only the large ones.
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
    """Return the number of objects allocated in a function, without their headers.

    The function makes `rounds` bytearrays and nothing else.
    """
    objects = total_in(found, function, "alloc_objects")
    of_a_head = found.period / HEAD + 0.5
    heads = round((objects - rounds) / of_a_head)
    assert 0 <= heads <= 5, f"{heads} heads drawn, where {rounds / of_a_head:.2f} are expected"
    return objects - heads * of_a_head
