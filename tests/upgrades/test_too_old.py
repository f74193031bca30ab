"""Databases of versions before 0.3 are rejected and left as they are."""

import lzma
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.services import free_port
from tests.upgrades.old_database import DATA, run_dump

ADVICE = (
    "The database was written by a version of Flamewatch before 0.3 (it lacks"
    " projects.0021_column_names). Start Flamewatch 0.3 on it once, then this version."
)
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a server with the tables of version 0.2 and its projects."""
    dump = lzma.decompress((DATA / "0.2" / f"{connection.vendor}.sql.xz").read_bytes()).decode()
    with run_dump(tmp_path, dump) as environment:
        yield environment


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "profiler_site.cli.main", *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def read_content(environment: dict[str, str]) -> Any:
    """Return the bytes of the SQLite file, or the rows of PostgreSQL's tables and catalogue."""
    if "DATABASE_URL" not in environment:
        return Path(environment["FLAMEWATCH_DATA_DIR"], "flamewatch.sqlite3").read_bytes()
    queries = (
        "SELECT attrelid::regclass::text, attname FROM pg_attribute ORDER BY 1, 2",
        "SELECT indexdef FROM pg_indexes ORDER BY 1",
        "SELECT app, name FROM django_migrations ORDER BY id",
        "SELECT * FROM projects_project ORDER BY id",
    )
    with psycopg.connect(environment["DATABASE_URL"]) as database:
        return [database.execute(query).fetchall() for query in queries]


@pytest.mark.parametrize("command", ["migrate", "up"])
def test_start_on_a_database_of_0_2_names_0_3_and_changes_nothing(
    environment: dict[str, str], command: str
) -> None:
    before = read_content(environment)
    options = ("--port", str(free_port())) if command == "up" else ()
    done = run(environment, command, *options)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"flamewatch: {ADVICE}"
    assert read_content(environment) == before


def test_doctor_names_0_3(environment: dict[str, str]) -> None:
    done = run(environment, "doctor")
    assert done.returncode != 0
    assert ADVICE in done.stdout
