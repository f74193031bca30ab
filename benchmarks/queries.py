"""The last hour: profiles that are all in the head, merged into the JSON of a flame graph.

Runs in a process of its own on a new SQLite file; the page cache is warm, nothing else is cached.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "FLAMEWATCH_DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        }
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.head.measure"], env=environment, check=False
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
