"""Comparison and history of profiles that are rolled up, in a process and a database of its own."""

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
        command = [sys.executable, "-m", "benchmarks.compare.measure"]
        return subprocess.run(command, env=environment, check=False).returncode
