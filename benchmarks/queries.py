"""Measure merging the last hour's profiles, all in the head, into the JSON of a flame graph.

The page cache is warm; nothing else is cached.
"""

import sys

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.head.measure")


if __name__ == "__main__":
    sys.exit(main())
