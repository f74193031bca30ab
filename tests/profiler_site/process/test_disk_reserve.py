"""Disk reserve: allocated while there is space, and released for a server that starts."""

from pathlib import Path

import pytest

from profiler_site.process import disk_reserve
from profiler_site.process.disk_reserve import BYTES, keep, open_up

LEAST = 2**20


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list whose only element is the number of free bytes."""
    free = [10 * BYTES]
    monkeypatch.setattr(disk_reserve, "free_bytes", lambda folder: free[0])
    return free


def test_reserve_occupies_its_bytes_and_is_kept(tmp_path: Path, disk: list[int]) -> None:
    keep(tmp_path, LEAST)
    path = tmp_path / "disk-reserve"
    assert path.stat().st_blocks * 512 >= BYTES
    made = path.stat().st_ino
    keep(tmp_path, LEAST)
    open_up(tmp_path)
    assert path.stat().st_ino == made


def test_reserve_is_deleted_on_a_full_disk_and_restored_with_space(
    tmp_path: Path, disk: list[int]
) -> None:
    keep(tmp_path, LEAST)
    disk[0] = 0
    open_up(tmp_path)
    assert not list(tmp_path.iterdir())
    disk[0] = BYTES + LEAST - 1
    keep(tmp_path, LEAST)
    assert not list(tmp_path.iterdir())
    disk[0] = BYTES + LEAST
    keep(tmp_path, LEAST)
    assert [path.name for path in tmp_path.iterdir()] == ["disk-reserve"]
