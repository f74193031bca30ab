"""Pprof profiles of Pyroscope's clients: what each profile type gets of them."""

from ingest.formats.pyroscope.pprof import PprofContext, import_pprof
from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from tests.paths import SAMPLES

LIMITS = DecodeLimits()
MAX_RAW = 2**24


def test_a_difference_of_heap_profiles_is_stored_without_its_memory_in_use() -> None:
    body = (SAMPLES / "go-heap-delta.pb.gz").read_bytes()
    [profile] = import_pprof(body, gunzip(body, MAX_RAW), PprofContext("memory"), LIMITS).profiles
    assert profile.type == "HEAP_ALLOC"
    assert "difference of two heap profiles" in profile.warnings[0]
    raw = gunzip(profile.pprof, MAX_RAW)
    assert decode_profile(raw, profile.type, LIMITS, profile.sample_types).weight > 40 * 2**16


def test_a_heap_profile_is_memory_in_use_and_allocations() -> None:
    body = (SAMPLES / "go-heap.pb.gz").read_bytes()
    profiles = import_pprof(body, gunzip(body, MAX_RAW), PprofContext("memory"), LIMITS).profiles
    assert {profile.type for profile in profiles} == {"HEAP", "HEAP_ALLOC"}
    assert not any(profile.warnings for profile in profiles)
