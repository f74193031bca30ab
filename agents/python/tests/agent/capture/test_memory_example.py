"""Example of the documentation: 1 MiB that is allocated and freed repeatedly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from drawn_blocks import MIB, large_objects, total_in
from pprof_reader import ReadProfile, read

EXAMPLE = Path(__file__).parents[5] / "examples" / "allocations.py"
SOURCE = Path(__file__).parents[3] / "src"
ROUNDS = 1000  # a real profile has ten: with 1000 the sampling error is 1.3 %, not 13 %
ALLOWED = 0.08  # six standard deviations


def profile(kind: str, folder: Path) -> ReadProfile:
    target = folder / "out.pb.gz"
    program = [sys.executable, str(EXAMPLE), "--period", "0", "--rounds", str(ROUNDS)]
    run = [sys.executable, "-m", "flamewatch.run", "--once", kind, "-o", str(target), "--"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run([*run, *program], env=environment, check=True, capture_output=True)
    return read(target.read_bytes())


def test_heap_alloc_shows_what_was_allocated_though_nothing_is_in_use(tmp_path: Path) -> None:
    found = profile("heap_alloc", tmp_path)
    assert found.default_metric == "alloc_space"
    size = total_in(found, "allocate_and_free", "alloc_space")
    assert size == pytest.approx(ROUNDS * MIB, rel=ALLOWED)
    objects = large_objects(found, "allocate_and_free", ROUNDS)
    assert objects == pytest.approx(ROUNDS, rel=ALLOWED)
    assert total_in(found, "allocate_and_free", "inuse_space") == 0
    assert total_in(found, "allocate_and_free", "inuse_objects") == 0
