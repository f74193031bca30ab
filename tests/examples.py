"""Number of examples of property tests, of which each level of tests runs a part."""

import os

# Percent of the examples; tests/run.py sets it, and without it all are run.
VARIABLE = "FLAMEWATCH_TEST_EXAMPLES"


def examples(count: int) -> int:
    return max(count * int(os.environ.get(VARIABLE, "100")) // 100, 5)
