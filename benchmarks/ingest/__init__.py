"""Ingest: what an upload costs the whole server, how soon it is durable and visible, and in how
much memory; on SQLite in one process, and on PostgreSQL.

The server is started as operators start it, and gets profiles of every shape under names that it
issued, over HTTP, first as fast as it takes them and then at half that rate, at random moments.
Nothing is rolled up meanwhile: no hour of these profiles is over.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.ingest.measure import Measured, measure
from benchmarks.ingest.sheet import show
from tests.services import postgresql


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="flamewatch-bench-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as a user of its own
        measured: dict[str, Measured] = {"SQLite": measure()}
        with postgresql(Path(folder)) as database:
            measured["PostgreSQL"] = measure(database)
    return 0 if show(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
