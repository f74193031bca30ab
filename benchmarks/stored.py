"""The same questions at 1, 10 and 100 times as much stored: the cost is of what is asked.

Runs in a process of its own on a new SQLite file with blobs as files; the page cache is warm,
nothing else is cached.
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
            "BLOB_URL": f"file://{folder}/blobs",
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        }
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.rolled_up.measure"], env=environment, check=False
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
