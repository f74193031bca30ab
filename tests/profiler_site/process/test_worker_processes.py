"""Worker processes of a real server: they are ready at its start, and end with it."""

import os
import signal
from pathlib import Path

import pytest

from tests.processes import descendants, is_running
from tests.server import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
SECONDS = 10.0


def workers(server: RunningServer) -> list[int]:
    found = []
    for pid in descendants(server.process.pid):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"common.worker_processes.worker" in command:
            found.append(pid)
    return found


def two_workers(server: RunningServer) -> list[int]:
    def find() -> list[int] | None:
        found = workers(server)
        return found if len(found) == 2 else None

    return until(find, SECONDS, "two workers")


def test_workers_start_with_the_server_and_end_when_it_stops() -> None:
    with running_server() as server:
        started = until(
            lambda: found if len(found := workers(server)) == 2 else None, SECONDS, "two workers"
        )
        assert server.interrupt() == 0
        assert not any(map(is_running, started))
        assert "Traceback" not in server.log.read_text()


def test_workers_end_when_the_server_is_killed() -> None:
    with running_server() as server:
        started = until(
            lambda: found if len(found := workers(server)) == 2 else None, SECONDS, "two workers"
        )
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        until(lambda: not any(map(is_running, started)), SECONDS, "end of the workers")


def test_a_worker_has_no_socket_and_no_file_of_the_data_folder() -> None:
    with running_server() as server:
        started = until(
            lambda: found if len(found := workers(server)) == 2 else None, SECONDS, "two workers"
        )
        for pid in started:
            folder = Path(f"/proc/{pid}/fd")
            opened = [str(each.readlink()) for each in folder.iterdir()]
            assert not [name for name in opened if name.startswith("socket:")]
            assert not [name for name in opened if str(server.data_dir) in name]
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"FLAMEWATCH_" not in environment
            assert b"DATABASE_URL" not in environment
