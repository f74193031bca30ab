"""Databases of earlier versions, made of the dumps in data/."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.db import connection

DATA = Path(__file__).parent / "data"
NAME = f"old_data_{os.getpid()}"


@contextmanager
def run_dump(data_dir: Path, dump: str) -> Iterator[dict[str, str]]:
    """Make a database of the kind under test, and yield the environment of a server with it.

    An SQLite file without a dump is in the folder.
    """
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": str(data_dir),
        "FLAMEWATCH_ALLOWED_HOSTS": "127.0.0.1",
    }
    if connection.vendor != "postgresql":
        environment.pop("DATABASE_URL", None)
        if dump:
            file = sqlite3.connect(data_dir / "flamewatch.sqlite3")
            file.executescript(dump)
            file.execute("PRAGMA journal_mode = WAL")  # as servers set it
            file.close()
        yield environment
        return
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        try:
            address = urlsplit(url)._replace(path=f"/{NAME}").geturl()
            with psycopg.connect(address) as database:
                database.execute(_without_settings(dump))
            yield environment | {"DATABASE_URL": address}
        finally:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def _without_settings(dump: str) -> str:
    """Leave out settings of the session and commands of psql, which differ between versions."""
    return "\n".join(line for line in dump.splitlines() if not line.startswith(("SET ", "\\")))
