"""Profiles that are differences of two: other metrics are stored, differences reported."""

from typing import Any

import pytest

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import DecodedProfile, DecodeLimits, decode_profile
from tests.profiles.engine.pprof.test_samples import raw
from tests.profiles.pprofs import pprof

ALLOCATED = (Metric("alloc_objects", "count"), Metric("alloc_space", "bytes"))
HEAP = (*ALLOCATED, Metric("inuse_objects", "count"), Metric("inuse_space", "bytes"))


def read(stacks: Any, types: Any = HEAP, profile_type: str = "HEAP") -> DecodedProfile:
    return decode_profile(pprof(stacks, types), profile_type, DecodeLimits())


def test_difference_of_go_heap_profiles_keeps_its_allocations() -> None:
    found = decode_profile(raw("go-heap-delta"), "HEAP", DecodeLimits())
    assert found.columns.metrics == ALLOCATED
    assert found.tree.self.min() == 0
    assert found.weight == found.totals[1] > 40 * 2**16
    assert len(found.warnings) == 2
    assert found.warnings[1].startswith(
        "inuse_space (bytes) is left out: it is a difference of two profiles"
    )


def test_negative_bytes_leave_out_their_objects_too() -> None:
    found = read({"main": [1, 8, 2, 16], "main;a": [2, 8, 3, -16]})
    assert (found.columns.metrics, found.totals) == (ALLOCATED, (3, 16))
    assert [warning.split()[0] for warning in found.warnings] == ["inuse_objects", "inuse_space"]
    assert "such as -16" in found.warnings[1]


def test_tree_has_no_nodes_of_metrics_left_out() -> None:
    found = read({"main;stored": [1, 8, 0, 0], "main;gone": [0, 0, 5, 5], "main": [0, 0, -1, -1]})
    names = {found.tree.frames.strings[i] for i in found.tree.frames.name.tolist()}
    assert names == {"main", "stored"}


def test_a_profile_without_negative_values_has_no_warnings() -> None:
    found = read({"main": [1, 8, 2, 16]})
    assert (found.columns.metrics, found.warnings) == (HEAP, ())


def test_a_profile_of_differences_only_is_rejected() -> None:
    with pytest.raises(BadProfile) as raised:
        read({"main": [5, -7]}, HEAP[2:])
    assert raised.value.reason == (
        "Every sample type of the profile has negative values: inuse_space (bytes) has -7. It is "
        "a difference of two profiles, which is not supported; send the original profiles."
    )


def test_negative_cpu_times_leave_the_sample_counts() -> None:
    types = [("samples", "count"), ("cpu", "nanoseconds")]
    found = read({"main": [5, -7], "other": [1, 9]}, types, "CPU")
    assert (found.columns.metrics, found.totals) == ((Metric("samples", "count"),), (6,))
