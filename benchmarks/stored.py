"""The same questions at 1, 10 and 100 times as much stored: the cost is of what is asked.

The page cache is warm, nothing else is cached.
"""

import sys

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.rolled_up.measure")


if __name__ == "__main__":
    sys.exit(main())
