"""Worker processes of a real server: they are ready at its start, and end with it."""

import contextlib
import os
import signal
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from common.worker_processes.pool import MIN_WORKERS
from tests.processes import children, descendants, is_running, read_name
from tests.server import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
SECONDS = 30.0
UPLOAD_NAMES = {"decode-worker", "convert-worker"}
QUERY_WORKERS = 2
DECODE_WORKERS = 1  # at the start
ENVIRONMENT = {"FLAMEWATCH_QUERY_WORKERS": str(QUERY_WORKERS)}


class WorkerIds(NamedTuple):
    """Each list has the process that forks workers, and the workers."""

    uploads: list[int]  # decoding and conversions
    queries: list[int]

    @property
    def all(self) -> list[int]:
        return [*self.uploads, *self.queries]


def find_workers(server: RunningServer) -> WorkerIds | None:
    """Return the worker processes once all of them run.

    They are children of the server: between the process that forks and a worker there is another
    one for a moment, with the same name.
    """
    found = WorkerIds([], [])
    for pid in children(server.process.pid):
        name = read_name(pid)
        if name in UPLOAD_NAMES:
            found.uploads.append(pid)
        elif name == "query-worker":
            found.queries.append(pid)
    expected = (1 + MIN_WORKERS + DECODE_WORKERS, 1 + QUERY_WORKERS)
    return found if (len(found.uploads), len(found.queries)) == expected else None


def wait_for_workers(server: RunningServer) -> WorkerIds:
    found = until(lambda: find_workers(server), SECONDS, "the workers")
    assert found is not None
    return found


def list_files(pid: int) -> list[str]:
    """Return the names of the open files of a process; some may be closed meanwhile."""
    names = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(str(each.readlink()))
    return names


def has_at_most(pid: int, sockets: int) -> bool:
    return sum(name.startswith("socket:") for name in list_files(pid)) <= sockets


def test_workers_start_with_the_server_and_end_when_it_stops() -> None:
    with running_server(**ENVIRONMENT) as server:
        started = wait_for_workers(server)
        assert server.interrupt() == 0
        assert not any(map(is_running, started.all))
        assert "Traceback" not in server.log.read_text()


def test_workers_end_when_the_server_is_killed() -> None:
    with running_server(**ENVIRONMENT) as server:
        started = wait_for_workers(server)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        until(lambda: not any(map(is_running, started.all)), SECONDS, "end of the workers")


def test_no_worker_has_a_socket_of_the_server_or_the_lock_of_its_data_folder() -> None:
    with running_server(**ENVIRONMENT) as server:
        started = wait_for_workers(server)
        for pid in started.all:
            # The process that forks workers gets their pipes through a pair of sockets. A worker
            # closes its copy once it runs.
            most = int(pid in {min(started.uploads), min(started.queries)})
            until(partial(has_at_most, pid, most), SECONDS, f"at most {most} sockets")
            assert str(server.data_dir / "lock") not in list_files(pid)


def test_workers_of_conversions_have_no_settings_and_no_data() -> None:
    with running_server(**ENVIRONMENT) as server:
        for pid in wait_for_workers(server).uploads:
            assert not [name for name in list_files(pid) if str(server.data_dir) in name]
            variables = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"FLAMEWATCH_" not in variables
            assert b"DATABASE_URL" not in variables


def test_a_server_without_query_workers_has_none() -> None:
    with running_server(FLAMEWATCH_QUERY_WORKERS="0") as server:
        names = [read_name(pid) for pid in descendants(server.process.pid)]
        assert "query-worker" not in names
