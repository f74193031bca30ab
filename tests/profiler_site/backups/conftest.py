"""Empty installations to restore to, of the kind of database and store under test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection
from pytest_django import Settings

from tests.server import COMMAND
from tests.services import S3

NAME = f"flamewatch_restored_{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Installation:
    """Settings of another installation, which commands use in processes of their own."""

    environment: dict[str, str]

    @property
    def data_dir(self) -> Path:
        return Path(self.environment["FLAMEWATCH_DATA_DIR"])

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def restore(self, folder: Path, *options: str) -> None:
        done = self.run("restore", str(folder), *options)
        assert done.returncode == 0, done.stderr

    def rejection(self, folder: Path, *options: str, **variables: str) -> str:
        """Return the error of a restore that has to fail."""
        done = self.run("restore", str(folder), *options, **variables)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def read(self, reader: str, password: str) -> dict[str, Any]:
        argument = json.dumps({"reader": reader, "password": password})
        module = "tests.profiler_site.backups.read_installation"
        done = subprocess.run(
            [sys.executable, "-m", module, argument],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def store(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> Iterator[str]:
    """Set the blob store of the server under test; yield the URL of another one of its kind."""
    if getattr(request, "param", "file") == "file":
        yield f"file://{tmp_path}/restored/blobs"
        return
    s3_server: S3 = request.getfixturevalue("s3_server")
    monkeypatch = pytest.MonkeyPatch()
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    address = urlsplit(s3_server.url)
    settings.BLOB_URL = address._replace(path=f"/{tmp_path.name}-source").geturl()
    yield address._replace(path=f"/{tmp_path.name}-target").geturl()
    monkeypatch.undo()


@pytest.fixture
def target(store: str, tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation without any data."""
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment |= {"FLAMEWATCH_DATA_DIR": f"{tmp_path}/restored", "BLOB_URL": store}
    if connection.vendor != "postgresql":
        yield Installation(environment)
        return
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        try:
            database = urlsplit(url)._replace(path=f"/{NAME}").geturl()
            yield Installation(environment | {"DATABASE_URL": database})
        finally:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")
