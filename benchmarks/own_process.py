"""A part of a benchmark in a process of its own, on a new SQLite file with blobs as files."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(module: str) -> int:
    """Its exit code; nothing of it is kept."""
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
