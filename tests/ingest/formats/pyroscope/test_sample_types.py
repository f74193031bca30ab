"""Profile types of pprof profiles, by their sample types and by what the sender states."""

import pytest

from ingest.formats.pyroscope.sample_types import type_samples
from profiles.engine.metrics import Metric
from projects.profile_types import ProfileType

_UNITS = {"cpu": "nanoseconds", "wall": "nanoseconds", "time": "microseconds"}


def typed(*names: str, profile: str = "") -> dict[str, tuple[str, ...]]:
    metrics = [Metric(name, _UNITS.get(name, "count")) for name in names]
    return {type_.value: group for type_, group in type_samples(metrics, profile).names.items()}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("samples", "cpu"), {"CPU": ("cpu", "samples")}),
        (("cpu",), {"CPU": ("cpu",)}),
        (("samples", "wall", "cpu"), {"WALL": ("wall", "samples"), "CPU": ("cpu",)}),
        (("sample", "time"), {"WALL": ("time", "sample")}),
        (("samples",), {"CPU": ("samples",)}),
        (
            ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"),
            {
                "HEAP_ALLOC": ("alloc_objects", "alloc_space"),
                "HEAP": ("inuse_objects", "inuse_space"),
            },
        ),
        (("objects", "space"), {"HEAP": ("objects", "space")}),
        (("inuse-space", "alloc-size"), {"HEAP": ("inuse-space",), "HEAP_ALLOC": ("alloc-size",)}),
        (("contentions", "delay"), {"CONTENTION": ("contentions", "delay")}),
        (("lock-count", "lock-time"), {"CONTENTION": ("lock-count", "lock-time")}),
        (("goroutine",), {"THREADS": ("goroutine",)}),
        (("Goroutine",), {"THREADS": ("Goroutine",)}),
        (("exception",), {}),
    ],
)
def test_profile_type_is_decided_by_the_sample_types(
    names: tuple[str, ...], expected: dict[str, tuple[str, ...]]
) -> None:
    assert typed(*names) == expected


@pytest.mark.parametrize(
    ("profile", "type_"),
    [("wall", "WALL"), ("process_cpu", "CPU"), ("memory", "HEAP"), ("block", "CONTENTION")],
)
def test_profile_name_decides_the_type_of_ambiguous_sample_types(profile: str, type_: str) -> None:
    assert typed("samples", profile=profile) == {type_: ("samples",)}
    assert typed("custom", profile=profile) == {type_: ("custom",)}


def test_unknown_sample_types_are_named() -> None:
    found = type_samples([Metric("cpu", "nanoseconds"), Metric("exception", "count")])
    assert (found.names, found.unknown) == ({ProfileType.CPU: ("cpu",)}, ("exception",))


@pytest.mark.parametrize(
    ("profile", "display", "kind"),
    [
        ("mutex", {}, "mutex"),
        ("block", {}, "block"),
        ("", {"contentions": "mutex_count"}, "mutex"),
        ("", {"contentions": "block_count"}, "block"),
        ("", {}, ""),
    ],
)
def test_mutex_profiles_are_distinguished_from_block_profiles(
    profile: str, display: dict[str, str], kind: str
) -> None:
    sample_types = [Metric("contentions", "count"), Metric("delay", "nanoseconds")]
    assert type_samples(sample_types, profile, display).contention == kind
