"""Memory counts equal true allocations and frees, and the allocators are restored."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flamewatch import _native

Run = Callable[..., Any]
PROGRAMS = Path(__file__).parent / "programs"
SOURCE = Path(__file__).parents[2] / "src"
MIB = 1 << 20
BLOCKS_IN_USE, ALLOCATED_LATER = 36_000, 16_000  # blocks in truth() of heap.py
FEW_PERCENT = 0.05  # for 14,000 samples: seven standard deviations


def test_memory_in_use_is_right_within_sampling_error(run: Run) -> None:
    result = run("heap.py", "truth")
    objects, size = result["before"]["heap"]["keep.<locals>.<genexpr>"][2:]
    assert objects == pytest.approx(BLOCKS_IN_USE, rel=FEW_PERCENT)
    assert size == pytest.approx(BLOCKS_IN_USE * result["size"], rel=FEW_PERCENT)


def test_memory_that_is_freed_at_once_is_not_in_use(run: Run) -> None:
    allocated, in_use = run("heap.py", "truth")["before"]["heap"]["drop"][1::2]
    assert allocated == pytest.approx(200 * MIB, rel=FEW_PERCENT)
    assert in_use == 0


def test_an_interval_has_only_what_was_allocated_in_it(run: Run) -> None:
    result = run("heap.py", "truth")
    seen = result["before"]["heap_alloc"]
    assert "drop" not in seen
    _, size, objects, used = seen["keep.<locals>.<genexpr>"]
    assert objects == pytest.approx(ALLOCATED_LATER, rel=0.1)
    assert size >= used == pytest.approx(ALLOCATED_LATER * result["size"], rel=0.1)


@pytest.mark.parametrize("kind", ["heap", "heap_alloc"])
def test_freed_blocks_are_not_in_use(run: Run, kind: str) -> None:
    result = run("heap.py", "truth")
    before, after = result["before"][kind]["keep"], result["after"][kind]["keep"]
    assert after[:2] == before[:2]
    assert after[2:] == [0, 0]


def test_reallocated_block_counts_with_its_last_size(run: Run) -> None:
    result = run("heap.py", "moved")
    assert result["before"]["moved"][3] == pytest.approx(result["bytes_in_use"], rel=0.02)


@pytest.mark.parametrize("domains", ["one_by_one", "whole"])
def test_if_every_block_is_sampled_the_numbers_are_exact(run: Run, domains: str) -> None:
    result = run("heap.py", domains)
    assert result["before"]["keep.<locals>.<genexpr>"][2] == 100
    assert result["before"]["keep.<locals>.<genexpr>"][3] == 100 * result["size"]
    # Ten of one MiB and a byte, as documented, and the small objects around them.
    assert 10 * MIB <= result["before"]["documented"][1] < 10.01 * MIB
    assert result["before"]["documented"][2:] == [0, 0]
    assert result["after"]["keep"][2:] == [0, 0]


def test_the_allocators_are_afterwards_as_they_were_before(run: Run) -> None:
    result = run("allocators.py")
    assert result["during"] != result["before"]
    assert result["after"] == result["before"]


def test_free_of_small_blocks_is_not_hooked(run: Run) -> None:
    result = run("allocators.py")
    for domain in ("mem", "object"):
        before, during = result["before"][domain], result["during"][domain]
        assert during["malloc"] != before["malloc"]
        assert (during["free"], during["context"]) == (before["free"], before["context"])
    raw = result["before"]["raw"]
    assert result["during"]["raw"] == {**raw, "free": result["during"]["raw"]["free"]}


@pytest.mark.parametrize("how", ["pymalloc", "malloc", "pymalloc_debug", "malloc_debug"])
def test_blocks_are_seen_however_python_allocates_them(run: Run, how: str) -> None:
    result = run("allocators.py", more=f"PYTHONMALLOC={how}")
    assert result["in_use"] == [1000, 1000 * sys.getsizeof(bytes(100))]
    assert result["freed"] == [0, 0]
    assert result["after"] == result["before"]


def test_hooks_of_tracemalloc_before_and_after_ours_keep_working(run: Run) -> None:
    result = run("heap.py", "beside_tracemalloc")
    assert result["over"][2] == 11  # the blocks and the list
    assert result["taken_along"], "hooks that were taken out with the one below are put in again"
    assert result["again"][2] == 21
    assert result["still_reached"]
    assert result["under"][2] == 21 + 30
    assert result["restarted"][2] == 51, "ours, left in the middle, were used again"
    assert result["traced"] < 50_000, "theirs saw every block freed"


def test_excluded_thread_is_not_counted(run: Run) -> None:
    assert "keep" not in run("heap.py", "apart")


def test_when_the_table_is_full_sites_without_blocks_in_use_are_dropped(run: Run) -> None:
    result = run("heap.py", "full")
    assert result["counts"]["forgotten"] > 1000
    assert result["counts"]["table_full"] == 0
    assert result["keep"][2] == pytest.approx(1000, rel=0.05)


def test_a_forked_child_counts_from_nothing_and_frees_its_parents_blocks(run: Run) -> None:
    assert run("heap_forks.py")["codes"] == [0] * 12


@pytest.mark.parametrize("cycles", [40, pytest.param(250, marks=pytest.mark.nightly)])
def test_many_start_stop_cycles_under_allocations_leak_nothing(run: Run, cycles: int) -> None:
    result = run("heap_storm.py", cycles)
    assert result["seen"] > 0
    assert result["grown"] < MIB


def test_arrays_of_numpy_are_counted() -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "heap_numpy.py")],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    alive, freed = result["alive"], result["freed"]
    assert alive["make"][1] == pytest.approx(3e6, rel=0.001)
    assert alive["resize"] == pytest.approx([4e6, 3e6], rel=0.001)
    assert alive["drop"][0] == pytest.approx(2e6, rel=0.001)
    assert alive["drop"][1] < 1000
    assert alive["small"][0] >= 1000
    assert max(freed["make"][1], freed["resize"][1]) < 1000


def test_reading_without_counting_is_rejected() -> None:
    with pytest.raises(RuntimeError, match="memory is not being counted"):
        _native.heap_read("heap")
    with pytest.raises(RuntimeError, match="memory is not being counted"):
        _native.heap_mark()


def test_arguments_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="mean_bytes is 0; it must be from 1 to"):
        _native.heap_start(mean_bytes=0)
    with pytest.raises(ValueError, match="kind is 'cpu'; it must be 'heap' or 'heap_alloc'"):
        _native.heap_read("cpu")  # type: ignore[arg-type]
    assert not _native.heap_running()
