"""Run part of a benchmark in its own process, on a new SQLite file and a file blob store."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(module: str) -> int:
    """Run the module and return its exit code; delete its data afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "FLAMEWATCH_DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
            "BLOB_URL": f"file://{folder}/blobs",
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        }
        return subprocess.run(
            [sys.executable, "-m", module], env=environment, check=False
        ).returncode
