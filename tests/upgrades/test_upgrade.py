"""Data folders of old versions, on SQLite and PostgreSQL, give the same results with today's code.

data/ has a folder for each version, with an archive for each database, made by make_data.py of that
version: hour blocks, some of them covered by day blocks, a late one that is not, level 0 blocks,
head rows, a quarantined row and a quarantined block, rows of deduplication, keys, quotas, users,
deployments, native frames, a saved view, a note and a saved tree.
"""

import json
import math
import os
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from tests.server import server_in

Results = tuple[dict[str, Any], dict[str, Any]]
DATA = Path(__file__).parent / "data"
NAME = f"old_data_{os.getpid()}"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module", params=["0.2", "0.3"])
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_setup: None
) -> Iterator[Results]:
    """Yield what the old version recorded, and what today's code makes of its data."""
    folder, vendor = tmp_path_factory.mktemp("upgrade"), connection.vendor
    with tarfile.open(DATA / request.param / f"{vendor}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    recorded = json.loads((folder / "answers.json").read_text())
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": f"{folder}/data",
        "FLAMEWATCH_ALLOWED_HOSTS": "127.0.0.1",
    }
    environment.pop("DATABASE_URL", None)
    if vendor == "postgresql":
        url = urlsplit(os.environ["DATABASE_URL"])
        restore(url.geturl(), (folder / "data" / "dump.sql").read_text())
        environment["DATABASE_URL"] = url._replace(path=f"/{NAME}").geturl()
    command = [sys.executable, "-m", "tests.upgrades.today", str(folder / "answers.json")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield recorded, json.loads(done.stdout)
    if vendor == "postgresql":
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def restore(url: str, dump: str) -> None:
    """Create a database and run a plain dump in it."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
    # Settings of the session and commands of psql, which differ between versions.
    lines = (line for line in dump.splitlines() if not line.startswith(("SET ", "\\")))
    with psycopg.connect(urlsplit(url)._replace(path=f"/{NAME}").geturl()) as database:
        database.execute("\n".join(lines))


def assert_contains(response: object, recorded: object, at: str) -> None:
    """Compare all recorded fields but texts of errors, floats within 1e-9.

    Today's response may have more fields.
    """
    if isinstance(recorded, Mapping):
        assert isinstance(response, Mapping), at
        for key, value in recorded.items():
            assert key in response, f"{at}.{key}"
            if key != "why":
                assert_contains(response[key], value, f"{at}.{key}")
    elif isinstance(recorded, list):
        assert isinstance(response, list), at
        assert len(response) == len(recorded), at
        for number, value in enumerate(recorded):
            assert_contains(response[number], value, f"{at}[{number}]")
    elif isinstance(recorded, float):
        assert isinstance(response, (int, float)), at
        assert math.isclose(response, recorded, rel_tol=1e-9, abs_tol=1e-9), at
    else:
        assert response == recorded, at


def test_no_row_is_lost(results: Results) -> None:
    recorded, today = results
    assert today["rows"].items() >= recorded["rows"].items()
    assert all(count > 0 for count in recorded["rows"].values())


def test_queries_give_the_recorded_results(results: Results) -> None:
    recorded, today = results
    for path, response in recorded["answers"].items():
        assert_contains(today["answers"][path], response, path)


def test_pages_give_the_recorded_results(results: Results) -> None:
    recorded, today = results
    assert today["pages"].keys() == recorded.get("pages", {}).keys()
    for path, response in recorded.get("pages", {}).items():
        assert_contains(today["pages"][path], response, path)


def test_queries_give_the_recorded_results_after_compaction(results: Results) -> None:
    recorded, today = results
    assert today["compacted"]["profiles"] == recorded["rows"]["quarantined"]
    for path, response in recorded["answers"].items():
        assert_contains(today["answers_after_compaction"][path], response, path)


def test_repeated_uploads_are_recognised(results: Results) -> None:
    """In hour blocks, in the head, and without a time of their own by rows of their names."""
    recorded, today = results
    for key in ("uploads", "uploads_after_compaction"):
        for response, upload in zip(today[key], recorded["uploads"], strict=True):
            assert response["name"] == upload["response"]["name"]
    assert today["rows_after_uploads"] == today["rows"]
    assert today["rows_at_the_end"] == today["compacted"]


def test_credentials_are_valid(results: Results) -> None:
    """API keys (the queries above used one), passwords, and signed names of profiles."""
    _, today = results
    assert today["revoked"] == 401
    assert today["signed_in"] == [302, 200]
    assert today["issued"] == "CPU"


@pytest.mark.server
def test_a_start_makes_an_old_sqlite_file_return_space(tmp_path: Path) -> None:
    with tarfile.open(DATA / "0.2" / "sqlite.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    file = next((tmp_path / "data").glob("*.sqlite3"))
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    with server_in(tmp_path) as server:
        assert server.interrupt() == 0
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
