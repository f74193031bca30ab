"""Durability of acknowledged profiles after kill -9."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from profiles.engine.encoding.codec import decode

pytestmark = [pytest.mark.slow, pytest.mark.real]


def test_acknowledged_profile_survives_kill_9(tmp_path: Path) -> None:
    database = tmp_path / "head.sqlite3"
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{database}",
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "tests.profiles.storage.acknowledge_one"],
        env=environment,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"stored\n"
        process.kill()
    with sqlite3.connect(database) as reopened:
        assert reopened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = reopened.execute("SELECT name_id, tree FROM profiles_profile").fetchall()
        used = reopened.execute("SELECT profiles FROM projects_dayusage").fetchall()
    assert [name for name, _ in rows] == ["acknowledged"]
    assert int(decode(rows[0][1]).self.sum()) == 9_000_000
    assert used == [(1,)]
