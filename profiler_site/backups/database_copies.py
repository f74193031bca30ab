"""Copies of the database, consistent while the server writes to it: SQLite and PostgreSQL.

Sessions and leases are left out: nobody is signed in on a restored copy, and no job waits for the
lease of a process that has gone.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.conninfo import make_conninfo

from profiler_site.backups.folder import BackupError, sync

_LEFT_OUT_TABLES = ("django_session", "profiles_lease")
_SELECT_LIVE_BLOBS = "SELECT key FROM profiles_blob WHERE dead_since IS NULL ORDER BY key"
_SELECT_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY app, name"
_LOCK_SECONDS = 20
# Connection parameters that every libpq in use knows: psycopg's is often newer than pg_dump's.
_CONNECTION_PARAMETERS = (
    *("host", "hostaddr", "port", "dbname", "user", "options", "connect_timeout", "service"),
    *("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs", "passfile"),
)
_NO_DATA = "has no tables of Flamewatch. Check DATABASE_URL, and --data-dir for SQLite"


@dataclass(frozen=True, slots=True)
class DatabaseContent:
    """Rows of a copy that describe the rest of the backup."""

    live_blobs: list[str]  # keys
    migrations: list[str]  # app.name


class DatabaseCopies(Protocol):
    """Copy the configured database to a file, and back. All methods raise BackupError."""

    kind: str

    @property
    def version(self) -> str:
        """Version of the database server."""

    def prepare_dump(self) -> None:
        """Check that the database has tables, and what `dump` needs."""

    def dump(self, path: Path) -> DatabaseContent:
        """Write a copy of one moment to a new file."""

    def prepare_restore(self, path: Path, version: str) -> None:
        """Check what `restore` needs, without a change; `version` is that of the copied server."""

    def has_users(self) -> bool:
        """Return True if the database has accounts or projects, or cannot be read."""

    def restore(self, path: Path) -> None:
        """Replace all tables of Flamewatch by those of a copy, in one step."""


def database_copies() -> DatabaseCopies:
    """Return the copies of the kind of database that DATABASE_URL names."""
    return PostgresqlCopies() if connection.vendor == "postgresql" else SqliteCopies()


class SqliteCopies:
    """Copies of the SQLite file, by VACUUM INTO: unlike .backup it does not restart at a write."""

    kind = "sqlite"
    version = sqlite3.sqlite_version

    def __init__(self) -> None:
        self._path = Path(str(connection.settings_dict["NAME"]))

    def prepare_dump(self) -> None:
        if not self._path.exists() or not _own_tables():
            raise BackupError(f"{self._path} {_NO_DATA}.")

    def dump(self, path: Path) -> DatabaseContent:
        try:
            with closing(_sqlite(self._path)) as source:
                source.execute("VACUUM INTO ?", (str(path),))
            with closing(_sqlite(path)) as copy:
                copy.execute("PRAGMA secure_delete=ON")
                for table in _LEFT_OUT_TABLES:
                    copy.execute(f"DELETE FROM {table}")  # noqa: S608  one of the names above
                (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise BackupError(f"The database is damaged: {verdict}")
                content = DatabaseContent(
                    [key for (key,) in copy.execute(_SELECT_LIVE_BLOBS)],
                    [f"{app}.{name}" for app, name in copy.execute(_SELECT_MIGRATIONS)],
                )
        except sqlite3.Error as error:
            raise BackupError(f"The database cannot be copied to {path}: {error}") from None
        sync(path)
        return content

    def prepare_restore(self, path: Path, version: str) -> None:
        """A SQLite file needs no program, and is the same for all versions in use."""

    def has_users(self) -> bool:
        if not self._path.exists():
            return False
        try:
            # Closing the last connection of an orderly file also removes its write-ahead log.
            with closing(_sqlite(self._path)) as database:
                present = {"projects_user", "projects_project"} & _sqlite_tables(database)
                return any(
                    database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608
                    for table in present
                )
        except sqlite3.Error:
            return True  # damaged: what it had is not known

    def restore(self, path: Path) -> None:
        connection.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._path.with_name(f"{self._path.name}.restoring")
        shutil.copyfile(path, new)
        sync(new)
        # First the log: SQLite would apply that of the old file to the new one.
        for end in ("-wal", "-shm", "-journal"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        new.rename(self._path)
        sync(self._path.parent)


def _sqlite(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)


def _sqlite_tables(database: sqlite3.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master")}


class PostgresqlCopies:
    """Copies by pg_dump and pg_restore of the server's major version."""

    kind = "postgresql"

    @property
    def version(self) -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            (version,) = cursor.fetchone()
        return str(version)

    def prepare_dump(self) -> None:
        self._tool("pg_dump")
        if not _own_tables():
            raise BackupError(f"The database {_NO_DATA}.")

    def dump(self, path: Path) -> DatabaseContent:
        pg_dump, tables = self._tool("pg_dump"), _own_tables()
        with _session() as session, session.cursor() as cursor:
            # pg_dump reads the snapshot of this transaction: the blobs are those of its rows.
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
            cursor.execute(_SELECT_LIVE_BLOBS)
            blobs = [key for (key,) in cursor.fetchall()]
            cursor.execute(_SELECT_MIGRATIONS)
            migrations = [f"{app}.{name}" for app, name in cursor.fetchall()]
            command = [
                *(pg_dump, f"--dbname={_address()}", "--no-password"),
                *("--format=custom", "--no-owner", "--no-privileges"),
                *(f"--snapshot={snapshot}", f"--file={path}"),
                *(f"--table={name}" for name in tables),
                *(f"--exclude-table-data={name}" for name in _LEFT_OUT_TABLES),
            ]
            _run(command, _environment())
            cursor.execute("COMMIT")
        sync(path)
        return DatabaseContent(blobs, migrations)

    def prepare_restore(self, path: Path, version: str) -> None:
        if _major(version) > _major(self.version):
            raise BackupError(
                f"The backup is of PostgreSQL {version}; this server has the older version"
                f" {self.version}. Restore to PostgreSQL {_major(version)} or newer."
            )
        self._tool("psql")
        _run([self._tool("pg_restore"), "--list", str(path)])
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
            (others,) = cursor.fetchone()
        if others:
            raise BackupError(
                f"{others} other connections use the database. Stop all web processes, workers and"
                " beat, and close other clients, before you restore."
            )

    def has_users(self) -> bool:
        with connection.cursor() as cursor:
            for table in {"projects_user", "projects_project"} & set(_own_tables()):
                cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608
                if cursor.fetchone():
                    return True
        return False

    def restore(self, path: Path) -> None:
        """Let psql run the output of pg_restore, in one transaction that deletes the old tables."""
        drops = "".join(f'DROP TABLE IF EXISTS "{name}" CASCADE;\n' for name in _own_tables())
        reader_command = [
            *(self._tool("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(path)),
        ]
        writer_command = [
            *(
                self._tool("psql"),
                f"--dbname={_address()}",
                "--no-password",
                "--no-psqlrc",
                "--quiet",
            ),
            "--set=ON_ERROR_STOP=1",
        ]
        connection.close()  # its locks would keep the tables
        with tempfile.TemporaryFile() as errors:
            with (
                subprocess.Popen(
                    writer_command,
                    env=_environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                ) as writer,
                subprocess.Popen(reader_command, stdout=subprocess.PIPE, stderr=errors) as reader,
            ):
                _pipe(reader, writer, f"BEGIN;\n{drops}".encode(), b"COMMIT;\n")
            if writer.returncode or reader.returncode:
                errors.seek(0)
                text = errors.read().decode(errors="replace").strip().partition("\n")[0]
                raise BackupError(f"The database was not restored, and is as before: {text}")

    def _tool(self, name: str) -> str:
        """Return the path of a program of the server's major version. Raise BackupError."""
        major = _major(self.version)
        paths = [
            shutil.which(name),
            f"/usr/lib/postgresql/{major}/bin/{name}",
            f"/usr/pgsql-{major}/bin/{name}",
        ]
        found = []
        for path in paths:
            if path is None or not os.access(path, os.X_OK):
                continue
            done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            version = re.search(r"\d+(\.\d+)?", done.stdout)
            if version and _major(version[0]) == major:
                return path
            found.append(f"{path} of version {version[0] if version else 'unknown'}")
        raise BackupError(
            f"{name} of PostgreSQL {major} is needed, the version of the server; found:"
            f" {', '.join(found) or 'none'}. Install the client programs of PostgreSQL {major}"
            f" (Debian: postgresql-client-{major}), or put their folder first in PATH."
        )


def _pipe(
    reader: subprocess.Popen[bytes], writer: subprocess.Popen[bytes], begin: bytes, end: bytes
) -> None:
    """Copy the output of a process to another; send `end` only if the first one succeeded."""
    assert reader.stdout is not None  # noqa: S101  both are pipes
    assert writer.stdin is not None  # noqa: S101
    try:
        writer.stdin.write(begin)
        shutil.copyfileobj(reader.stdout, writer.stdin)
        if reader.wait() == 0:
            writer.stdin.write(end)
            writer.stdin.close()
        else:
            writer.kill()  # the database rolls its transaction back
    except BrokenPipeError:  # the writer has ended at an error, and is rolled back
        reader.kill()


def _major(version: str) -> int:
    return int(re.split(r"\D", version, maxsplit=1)[0])


@contextmanager
def _session() -> Iterator[BaseDatabaseWrapper]:
    """Open a connection of its own, in autocommit mode."""
    session = connections.create_connection(DEFAULT_DB_ALIAS)
    session.ensure_connection()
    try:
        yield session
    finally:
        session.close()


def _own_tables() -> list[str]:
    """Return the tables of Flamewatch in the database, of newer versions of its apps too."""
    prefixes = ("django_", *(f"{each.label}_" for each in apps.get_app_configs()))
    return sorted(n for n in connection.introspection.table_names() if n.startswith(prefixes))


def _address() -> str:
    """Return the connection string without the password, which other users could see."""
    parameters = connection.get_connection_params()
    return make_conninfo(
        **{name: parameters[name] for name in _CONNECTION_PARAMETERS if parameters.get(name)}
    )


def _environment() -> dict[str, str]:
    """Return the environment of PostgreSQL's programs; without a password they read .pgpass."""
    password = connection.settings_dict["PASSWORD"]
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a program of PostgreSQL. If it fails, raise BackupError with its first line of errors."""
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        text = done.stderr.strip().partition("\n")[0]
        raise BackupError(f"{Path(command[0]).name} failed: {text}")
