"""Cores that a process may use, by its affinity and the control groups of its container."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.cores import count_cores


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)))


def test_without_control_groups_all_cores_of_the_affinity_count(tmp_path: Path) -> None:
    assert count_cores(tmp_path, tmp_path / "absent") == 64


@pytest.mark.parametrize(
    ("limit", "cores"),
    [
        ("max 100000", 64),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("6400000 50000", 64),
        ("damaged", 64),
    ],
)
def test_limit_of_the_own_group_counts(tmp_path: Path, limit: str, cores: int) -> None:
    write(tmp_path / "own", "0::/\n")
    write(tmp_path / "cpu.max", f"{limit}\n")
    assert count_cores(tmp_path, tmp_path / "own") == cores


def test_lowest_limit_of_the_groups_around_counts(tmp_path: Path) -> None:
    write(tmp_path / "own", "0::/pods/flamewatch/web\n")
    write(tmp_path / "pods" / "cpu.max", "800000 100000\n")
    write(tmp_path / "pods" / "flamewatch" / "cpu.max", "300000 100000\n")
    write(tmp_path / "pods" / "flamewatch" / "web" / "cpu.max", "max 100000\n")
    assert count_cores(tmp_path, tmp_path / "own") == 3


@pytest.mark.parametrize(("quota", "cores"), [("-1", 64), ("400000", 4)])
def test_version_1_has_quota_and_period_in_files_of_their_own(
    tmp_path: Path, quota: str, cores: int
) -> None:
    write(tmp_path / "own", "5:cpu,cpuacct:/docker/0f\n4:cpuset:/docker/0f\n0::/\n")
    write(tmp_path / "cpu" / "cpu.cfs_quota_us", f"{quota}\n")  # a container sees its own as "/"
    write(tmp_path / "cpu" / "cpu.cfs_period_us", "100000\n")
    assert count_cores(tmp_path, tmp_path / "own") == cores


def test_affinity_of_a_process_counts() -> None:
    program = "from common.cores import count_cores; print(count_cores())"
    command = ["taskset", "--cpu-list", "0", sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"1\n"
