"""Run all benchmarks, or the named ones: `python -m benchmarks [NAME …] [OPTION …]`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

MODULES = {
    "blocks": "engine.blocks",
    "build_memory": "engine.build_memory",
    "compare": "queries.compare",
    "conversions": "ingest.conversions",
    "decode": "engine.decode",
    "detection": "detection.fleet",
    "drawing": "pages.drawing",
    "first_pixel": "pages.first_pixel",
    "imported_profiles": "queries.imported_profiles",
    "ingest": "ingest.cost.every_shape",
    "label_queries": "queries.labels",
    "long_poll_queue": "agents.long_poll_queue",
    "memory": "server.memory",
    "neighbour": "server.neighbour",
    "overload": "server.overload",
    "parked_agents": "agents.parked_agents",
    "queries": "queries.head",
    "query_latency": "queries.latency.query_latency",
    "significance": "engine.significance",
    "stored": "queries.stored",
    "upload_stages": "ingest.upload_stages",
    "uploads": "ingest.uploads",
    "uploads_beside_pyroscope": "ingest.beside_pyroscope.uploads_beside_pyroscope",
}
# Benchmarks that run Django in their own process; the others start servers with data of their own.
WITHOUT_SERVER = {"compare", "label_queries", "queries", "stored"}
# Names of benchmarks before they were renamed.
ALIASES = {"answers": "query_latency", "holding": "parked_agents"}


def run(name: str, options: Sequence[str], prepared: str) -> int:
    """Run a benchmark in a process of its own, on new data, and return its exit code.

    `prepared` is the folder that the servers of all benchmarks copy their first data from.
    """
    with tempfile.TemporaryDirectory(prefix="flamewatch-bench-") as folder:
        data = {
            "FLAMEWATCH_DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
            "BLOB_URL": f"file://{folder}/blobs",
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
        }
        environment = os.environ | {"FLAMEWATCH_TEST_CACHE": prepared}
        environment |= data if name in WITHOUT_SERVER else {}
        command = [sys.executable, "-m", f"benchmarks.{MODULES[name]}", *options]
        return subprocess.run(command, env=environment, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    names = list(takewhile(lambda each: not each.startswith("-"), arguments))
    options = arguments[len(names) :]
    selected = [ALIASES.get(name, name) for name in names] or list(MODULES)
    if unknown := set(selected) - set(MODULES):
        print(f"No benchmark {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}.")
        return 2
    if options and len(selected) > 1:
        print(f"The options {' '.join(options)} need the name of one benchmark before them.")
        return 2
    with tempfile.TemporaryDirectory(prefix="flamewatch-bench-") as folder:
        return max(run(name, options, folder) for name in selected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
