"""Measure flame graphs split by a label, and series by a label of samples.

The profiles' samples have an endpoint. The page cache is warm; nothing else is cached.
"""

import sys

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.labels.measure")


if __name__ == "__main__":
    sys.exit(main())
