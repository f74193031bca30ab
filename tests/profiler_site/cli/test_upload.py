"""`flamewatch upload` to a real server."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ingest.formats.imported import SAMPLES
from tests.server import COMMAND, RunningServer, Tenant, running_server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def tenant(server: RunningServer) -> Tenant:
    return server.add_tenant()


def upload(
    server: RunningServer, *arguments: str, key: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "upload", *arguments],
        env=server.environment | ({"FLAMEWATCH_KEY": key} if key else {}),
        text=True,
        capture_output=True,
        check=False,
    )


def test_files_of_several_profilers_are_imported(server: RunningServer, tenant: Tenant) -> None:
    names = ["jdk-17.jfr.gz", "austin-wall.txt", "py-spy.speedscope.json", "node-20.cpuprofile"]
    files = [str(SAMPLES / name) for name in names]
    done = upload(server, *files, "--service", "shop", "--json", key=tenant.write)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["files"]
    assert [result["file"] for result in results] == files
    types = [[profile["type"] for profile in result["profiles"]] for result in results]
    assert types == [["CPU", "HEAP_ALLOC", "CONTENTION"], ["WALL"], ["CPU"], ["CPU"]]


def test_a_failure_is_named_and_the_other_files_are_imported(
    server: RunningServer, tenant: Tenant, tmp_path: Path
) -> None:
    bad, good, key = (tmp_path / name for name in ("bad", "good", "key"))
    bad.write_text("no profile")
    good.write_text("main;work 3")
    key.write_text(tenant.write + "\n")
    missing = str(tmp_path / "missing")
    options = ["--service", "shop", "--key-file", str(key), "--url", server.url]
    done = upload(server, str(bad), missing, os.devnull, str(good), *options)
    assert done.returncode == 1
    assert f"{bad}: No line is a folded stack" in done.stderr
    assert f"{os.devnull}: The file is empty." in done.stderr
    assert f"{missing}: Cannot read the file: No such file" in done.stderr
    assert f"{good} (folded)\n  CPU: 1 samples, samples 3 count\n    {server.url}/p/" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--service", "shop"], "no API key"),
        (["--service", "shop", "--key-file", "/nowhere"], "Cannot read the API key"),
        (["--service", "shop", "--label", "a"], "write it as NAME=VALUE"),
        (["--service", "shop", "--url", "ftp://x"], "has to begin with http"),
        (["--service", "My Shop"], "use my-shop"),
        (["--service", "shop", "--key-file", "fw_secret"], "set FLAMEWATCH_KEY."),
        (["--service", "shop", "--url", "http://x/p/shop?a"], "without a path: http://x\n"),
        (
            ["--service", "shop", "--url", "http://127.0.0.1:1"],
            "No server responds at http://127.0.0.1:1: Connection refused. Check --url",
        ),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], words: str, server: RunningServer, tenant: Tenant, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("main;work 3")
    key = "" if words.startswith("no API") else tenant.write
    done = upload(server, str(file), *arguments, key=key)
    assert done.returncode == 1
    assert words in done.stderr
    assert "fw_" not in done.stderr
