"""Creation of the database by several processes at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

pytestmark = pytest.mark.slow

NAME = "flamewatch_created_twice"


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the environment of servers with an empty database of the kind under test."""
    variables = os.environ | {"FLAMEWATCH_DATA_DIR": str(tmp_path)}
    if connection.vendor != "postgresql":
        variables.pop("DATABASE_URL", None)
        yield variables
        return
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        try:
            yield variables | {"DATABASE_URL": urlsplit(url)._replace(path=f"/{NAME}").geturl()}
        finally:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def test_processes_that_start_together_create_the_database_once(
    environment: dict[str, str],
) -> None:
    command = [sys.executable, "-m", "profiler_site.cli.main", "migrate"]
    processes = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    for process, (out, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors
        assert "up to date" in out
