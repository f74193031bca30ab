"""Restart of a server that was killed during a compaction, which it resumes."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import server_in
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


def _counts(database: Path) -> tuple[int, int, int]:
    """Count profiles in the head, profiles in blocks, and leases."""
    with sqlite3.connect(database) as opened:
        (head,) = opened.execute("SELECT count(*) FROM profiles_profile").fetchone()
        (blocks,) = opened.execute(
            "SELECT coalesce(sum(profiles), 0) FROM profiles_block WHERE resolution = 'hour'"
        ).fetchone()
        (leases,) = opened.execute("SELECT count(*) FROM profiles_lease").fetchone()
    return head, blocks, leases


def test_restarted_server_compacts_despite_the_lease_of_the_killed_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": str(data),
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
    }
    environment.pop("DATABASE_URL", None)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.profiles.compaction.compact_one", "stop"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "blob written\n"
        process.kill()
    database = data / "flamewatch.sqlite3"
    assert _counts(database) == (5, 0, 1)
    with server_in(tmp_path):
        # Resumed at once: beat starts as if a minute had passed, and the lease would last two.
        until(lambda: _counts(database) == (0, 5, 0), 45, "compaction")
