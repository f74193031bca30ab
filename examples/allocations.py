"""Example that shows the difference between the memory profiles: allocated, and in use.

    once a second   allocate_and_free   1 MiB, freed at once
    at the start    keep                16 MiB, in use for as long as the program runs

In ten seconds HEAP_ALLOC shows 10 MiB in 10 objects, all of allocate_and_free; HEAP shows the 16
MiB of keep, and nothing of allocate_and_free. Start it with the agent, which counts from the start
if configured so:

    FLAMEWATCH_HEAP=start flamewatch-run --service allocations -- python examples/allocations.py
"""

import argparse
import time

MIB = 1 << 20


def allocate_and_free(size: int) -> None:
    bytearray(size)


def keep(size: int, blocks: int) -> list[bytearray]:
    return [bytearray(size) for _ in range(blocks)]


def main(period: float, rounds: int | None) -> None:
    retained = keep(MIB, 16)
    while rounds is None or rounds > 0:
        allocate_and_free(MIB)
        time.sleep(period)
        rounds = None if rounds is None else rounds - 1
    retained.clear()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--period", type=float, default=1.0, help="seconds between allocations")
    parser.add_argument("--rounds", type=int, help="end after so many (default: never)")
    options = parser.parse_args()
    main(options.period, options.rounds)
