"""Exclusive use of a data folder by one server, and by no other user."""

import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from profiler_site.process import data_folder
from tests.server import prepared_data, server_in

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


def test_data_folder_is_free_after_a_stop(tmp_path: Path) -> None:
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


def mode(path: Path) -> str:
    return f"{path.lstat().st_mode & 0o7777:04o}"


@pytest.fixture
def old_folder(tmp_path: Path) -> Path:
    """Create a data folder as older versions did, with a file of the operator's."""
    data = tmp_path / "data"
    (data / "blobs" / "projects").mkdir(parents=True)
    names = ["secret_key", "demo.json", "flamewatch.sqlite3", "flamewatch.sqlite3-wal"]
    for name in (*names, "flamewatch.sqlite3-shm", "blobs/projects/a", "notes.txt"):
        (data / name).write_text(name)
        (data / name).chmod(0o644)
    for folder in (data, data / "blobs", data / "blobs" / "projects"):
        folder.chmod(0o755)
    return data


def test_an_older_folder_is_tightened(old_folder: Path) -> None:
    data_folder.restrict_access(old_folder, old_folder / "flamewatch.sqlite3")
    modes = {str(path.relative_to(old_folder)): mode(path) for path in old_folder.rglob("*")}
    assert modes.pop("notes.txt") == "0644"
    assert (
        {modes.pop(name) for name in ("blobs", "blobs/projects")} == {mode(old_folder)} == {"0700"}
    )
    assert set(modes.values()) == {"0600"}


def test_a_database_elsewhere_is_tightened_without_its_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (elsewhere / "profiles.db").touch(0o644)
    data_folder.restrict_access(tmp_path / "data", elsewhere / "profiles.db")
    assert (mode(elsewhere), mode(elsewhere / "profiles.db")) == ("0755", "0600")


def test_links_are_not_followed(old_folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "a").touch(0o644)
    (old_folder / "static").symlink_to(outside)
    data_folder.restrict_access(old_folder, None)
    assert (mode(outside), mode(old_folder)) == ("0755", "0700")


def test_the_folder_of_another_user_is_a_warning(
    old_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with caplog.at_level(logging.WARNING):
        data_folder.restrict_access(old_folder, None)
    (record,) = caplog.records
    assert "Operation not permitted" in record.getMessage()
    assert str(old_folder) in record.getMessage()


def test_a_shared_folder_stays_shared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with caplog.at_level(logging.WARNING):
        data_folder.restrict_access(shared, None)
    assert mode(shared) == "1777"
    assert "several users share" in caplog.text


@pytest.mark.server
def test_a_running_server_has_only_private_files(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(prepared_data(), data, ignore=shutil.ignore_patterns("static"))
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with server_in(tmp_path) as server:
        server.add_project()
        open_to_others = [
            str(path) for path in (data, *data.rglob("*")) if path.stat().st_mode & 0o077
        ]
    assert open_to_others == []
