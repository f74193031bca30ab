"""Measure flame graphs split by a label, and series by a label of samples.

The profiles' samples have an endpoint. The page cache and the block cache are warm; results are
not cached.
"""

import sys

from benchmarks import own_process


def main() -> int:
    return own_process.run("benchmarks.labels.measure")


if __name__ == "__main__":
    sys.exit(main())
