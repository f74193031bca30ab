"""Measure ingest: server cost per upload, time until durable and visible, and memory.

Runs on SQLite in one process, and on PostgreSQL. The server is started as operators start it, and
receives profiles of every shape over HTTP under names that it issued, first as fast as it accepts
them, then at half that rate at random times. No compaction runs meanwhile, because no hour of these
profiles has ended.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.ingest.cost.measure import Measured, measure
from benchmarks.ingest.cost.table_of_results import show
from tests.services import postgresql


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="flamewatch-bench-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs under its own user
        measured: dict[str, Measured] = {"SQLite": measure()}
        with postgresql(Path(folder)) as database:
            measured["PostgreSQL"] = measure(database)
    return 0 if show(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
