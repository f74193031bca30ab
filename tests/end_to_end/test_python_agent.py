"""Python agent from its wheel, against the real server."""

import json
import os
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]

PROGRAM = """
import time
def work():
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
while True:
    work()
    time.sleep(0.05)
"""
TYPES = {"CPU", "WALL", "THREADS", "HEAP", "HEAP_ALLOC", "CONTENTION"}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def installed(built_agent: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel, which is equivalent to installing it."""
    [wheel] = built_agent.glob("flamewatch_agent-*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def begin(installed: Path, url: str, key: str, *options: str) -> subprocess.Popen[str]:
    mine = {"PYTHONPATH": str(installed), "FLAMEWATCH_URL": url, "FLAMEWATCH_KEY": key}
    return subprocess.Popen(
        [sys.executable, "-m", "flamewatch.run", *options, "--", sys.executable, "-c", PROGRAM],
        env=os.environ | mine,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> str:
    """Terminate the process and return its stderr."""
    process.terminate()
    _, errors = process.communicate(timeout=60)
    return errors


def profiles(server: RunningServer, project: str, key: str) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"{server.url}/v2/projects/{project}/profiles?pageSize=1000",
        headers={"Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        found: list[dict[str, Any]] = json.load(response)["profiles"]
    return found


def test_unchanged_program_sends_profiles_of_every_type(
    server: RunningServer, installed: Path
) -> None:
    tenant = server.add_tenant()
    process = begin(
        installed, server.url, tenant.write, "--service", "checkout", "--version", "1.4.2"
    )

    def of_every_type() -> list[dict[str, Any]] | None:
        found = profiles(server, tenant.project, tenant.read)
        return found if {profile["profileType"] for profile in found} == TYPES else None

    found = until(of_every_type, 180, "a profile of every type")
    assert end(process) == ""
    for profile in found:
        assert profile["deployment"]["target"] == "checkout"
        assert profile["deployment"]["labels"] == {"language": "python", "version": "1.4.2"}
        assert profile["labels"]["instance"]


def test_unknown_key_is_logged_in_one_line(server: RunningServer, installed: Path) -> None:
    process = begin(installed, server.url, "fw_no_such_key", "--service", "checkout")
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith(f"flamewatch: API key rejected by {server.url} (401): ")
    assert "fw_no_such_key" not in line
    assert end(process) == ""
