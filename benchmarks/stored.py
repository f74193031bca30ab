"""Repeat queries with 1, 10 and 100 times as much data stored.

The cost must depend on what a query reads, not on what is stored. The page cache is warm; nothing
else is cached.
"""

import sys

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.rollup.measure")


if __name__ == "__main__":
    sys.exit(main())
