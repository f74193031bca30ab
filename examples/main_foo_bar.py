"""Example program of the documentation of flame graphs, which burns CPU time.

    main 9 (self 2) → foo1 4 (self 1.5) → bar 2.5
                    → foo2 3 (self 0.5) → bar 2.5

One unit is 50 ms of CPU time; after each cycle of 9 units the program sleeps for the same time, so
that it uses half a core. Start it with the agent:

    flamewatch-run --service main-foo-bar -- python examples/main_foo_bar.py
"""

import argparse
import time

cpu_seconds = time.thread_time  # CPU time of this thread, independent of the machine's load


def bar(unit: float) -> None:
    end = cpu_seconds() + 2.5 * unit
    while cpu_seconds() < end:
        pass


def foo1(unit: float) -> None:
    end = cpu_seconds() + 1.5 * unit
    while cpu_seconds() < end:
        pass
    bar(unit)


def foo2(unit: float) -> None:
    end = cpu_seconds() + 0.5 * unit
    while cpu_seconds() < end:
        pass
    bar(unit)


def main(unit: float, rest: float, cycles: int | None) -> None:
    while cycles is None or cycles > 0:
        end = cpu_seconds() + 2 * unit
        while cpu_seconds() < end:
            pass
        foo1(unit)
        foo2(unit)
        time.sleep(rest)
        cycles = None if cycles is None else cycles - 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", type=float, default=0.05, help="seconds of CPU time")
    parser.add_argument("--rest", type=float, default=0.45, help="seconds of sleep after a cycle")
    parser.add_argument("--cycles", type=int, help="end after so many (default: never)")
    options = parser.parse_args()
    main(options.unit, options.rest, options.cycles)
