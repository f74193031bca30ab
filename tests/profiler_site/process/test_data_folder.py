"""Exclusive use of a data folder by one server."""

import subprocess
import sys
from pathlib import Path

import pytest

from profiler_site.process import data_folder

HOLD = """
import sys
from pathlib import Path
from profiler_site.process import data_folder
with data_folder.lock_data_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_second_server_is_told_which_folder_is_taken(tmp_path: Path) -> None:
    with (
        data_folder.lock_data_folder(tmp_path),
        pytest.raises(data_folder.InUse, match=str(tmp_path)),
        data_folder.lock_data_folder(tmp_path),
    ):
        pass


def test_it_is_free_again_after_a_stop(tmp_path: Path) -> None:
    for _ in range(2):
        with data_folder.lock_data_folder(tmp_path / "new"):
            pass


def test_a_server_that_was_killed_holds_it_no_longer(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "locked\n"
        with pytest.raises(data_folder.InUse), data_folder.lock_data_folder(tmp_path):
            pass
        server.kill()
        server.wait()
        with data_folder.lock_data_folder(tmp_path):
            pass
