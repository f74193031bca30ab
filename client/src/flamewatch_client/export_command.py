"""`flamewatch export`: make an archive of a project on the server, and download it."""

import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from flamewatch_client.connection import ServerConnection
from flamewatch_client.errors import RequestFailed
from flamewatch_client.terminal import format_value, make_printable, print_json

_POLL_SECONDS = 2.0
_OPEN = ("pending", "running")


def add_export(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--output", "-o", metavar="FILE", help="(default: PROJECT-export.tar in this folder)"
    )
    parser.add_argument(
        "--latest",
        action="store_true",
        help="download the latest archive instead of making a new one",
    )


def export(options: Namespace, connection: ServerConnection) -> int:
    """Follow the running export, or start one, and download its archive."""
    resource = connection.project_path("exports")
    project = resource.split("/")[1]
    path = Path(options.output or f"{project}-export.tar")
    if not path.parent.is_dir():
        raise RequestFailed(f"Cannot write {path}: {path.parent} is no folder.")
    job = _find_latest(resource, connection) if options.latest else _start(resource, connection)
    job = _wait(job, resource, connection)
    size = _download(f"{resource}/{job['id']}/archive", path, connection)
    if options.json:
        return print_json({"file": str(path), "bytes": size, "export": job})
    print(f"{path}: {size:,} bytes, {job['profiles']:,} profiles in {job['files']:,} files")
    return 0


def _find_latest(resource: str, connection: ServerConnection) -> dict[str, Any]:
    for row in connection.get(resource)["rows"]:
        if row["state"] == "done":
            return dict(row)
    raise RequestFailed("There is no archive. Run `flamewatch export` without --latest.")


def _start(resource: str, connection: ServerConnection) -> dict[str, Any]:
    for row in connection.get(resource)["rows"]:
        if row["state"] in _OPEN:
            print(f"Export {row['id']} is running: waiting for it.", file=sys.stderr)
            return dict(row)
    return dict(connection.change("POST", resource, {}))


def _wait(job: dict[str, Any], resource: str, connection: ServerConnection) -> dict[str, Any]:
    """Return the job once it is done, and show its progress. Raise RequestFailed if it fails."""
    shown = ""
    while job["state"] in _OPEN:
        text = f"{job['profiles']:,} profiles, {format_value(job['bytes'], 'bytes')}"
        if text != shown and sys.stderr.isatty():
            print(f"\rExporting: {text}\x1b[K", end="", file=sys.stderr, flush=True)
            shown = text
        time.sleep(_POLL_SECONDS)
        rows = connection.get(resource)["rows"]
        job = next((row for row in rows if row["id"] == job["id"]), job | {"state": "deleted"})
    if shown:
        print(file=sys.stderr)
    if job["state"] != "done":
        reason = f": {make_printable(job['problem'])}" if job["problem"] else ""
        raise RequestFailed(f"The export is {job['state']}{reason}.")
    return job


def _download(archive: str, path: Path, connection: ServerConnection) -> int:
    """Write the archive to a file, which appears once it is complete; return its bytes."""
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            partial = Path(file.name)
            try:
                size = connection.save(archive, file.file)
            except BaseException:
                partial.unlink()
                raise
        os.replace(partial, path)
    except OSError as error:
        raise RequestFailed(f"Cannot write {path}: {error.strerror}.") from None
    return size
