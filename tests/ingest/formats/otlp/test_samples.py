"""Messages that published versions of opentelemetry-proto made, see make_messages.py."""

import json

import pytest

from ingest.formats.otlp.revision import Revision
from tests.ingest.formats.otlp.conversions import convert, sample
from tests.ingest.formats.otlp.make_messages import (
    COUNTS,
    GNU_BUILD_ID,
    GO_BUILD_ID,
    RESOURCE,
    SECONDS,
    START,
)

REVISIONS = {
    "1.7": Revision.UP_TO_1_7,
    "1.9": Revision.UP_TO_1_9,
    "1.10": Revision.SINCE_1_10,
}
ALL = pytest.mark.parametrize("version", REVISIONS)
LABELS = {
    "thread.name": "worker",
    "size": "512 bytes",
    "ok": "true",
    "tags": "a, b",
}


@ALL
@pytest.mark.parametrize(
    "kind", ["values", "timestamps", "heap", "off_cpu", "native", "other_types"]
)
def test_the_revision_is_detected(version: str, kind: str) -> None:
    assert convert(sample(f"{version}-{kind}.pb")).request.revision is REVISIONS[version]


@ALL
@pytest.mark.parametrize("form", ["pb", "json"])
def test_each_published_version_gives_the_same_values_and_stacks(version: str, form: str) -> None:
    converted = convert(sample(f"{version}-values.{form}"))
    assert not converted.rejections
    (profile,) = converted.profiles
    assert profile.imported.type == "CPU"
    assert profile.imported.warnings == ()
    assert profile.attributes == RESOURCE
    assert profile.totals == {"cpu/nanoseconds": sum(COUNTS) * 10**7}
    assert profile.stacks == {
        "main;work;copy": COUNTS[0] * 10**7,
        "main;idle": COUNTS[1] * 10**7,
    }
    assert converted.trace_links == 1
    labels = LABELS if version != "1.7" else LABELS | {"size": "512"}  # it has no units
    assert profile.labels == [labels, {"thread.name": "main"}]
    decoded = profile.decoded
    assert (decoded.time_ns, decoded.duration_ns) == (START, SECONDS * 10**9)
    assert {"app.py", "copy"} <= set(decoded.tree.frames.strings)


@ALL
def test_functions_keep_their_start_lines(version: str) -> None:
    message = json.loads(sample(f"{version}-values.json"))
    for function in message["dictionary"]["functionTable"]:
        function["startLine"] = "40"
    (profile,) = convert(json.dumps(message).encode()).profiles
    assert set(profile.decoded.tree.frames.get_start_lines().tolist()) == {40}


@ALL
def test_samples_without_values_count_their_timestamps(version: str) -> None:
    nginx, redis = convert(sample(f"{version}-timestamps.pb")).profiles
    assert nginx.attributes["process.executable.name"] == "nginx"
    assert nginx.profiles == 2  # of two processes that differ in nothing
    assert nginx.totals == {
        "samples/count": 2 * sum(COUNTS),
        "cpu/nanoseconds": 2 * sum(COUNTS) * 50_000_000,
    }
    assert set(nginx.stacks) == {"main;work;copy", "nginx+0x1f20"}
    assert redis.totals == {"samples/count": 6, "cpu/nanoseconds": 300_000_000}


@ALL
@pytest.mark.parametrize("form", ["pb", "json"])
def test_native_frames_without_symbols_keep_build_id_and_offset(version: str, form: str) -> None:
    """Two processes of a program have their library at different addresses."""
    (shop,) = convert(sample(f"{version}-native.{form}")).profiles
    assert shop.totals["samples/count"] == 8
    assert set(shop.stacks) == {"busybox+0x77;shop+0x1500;libfoo.so.1+0x1234"}
    frames = shop.decoded.tree.frames
    assert {
        frames.strings[name]: (frames.strings[file], frames.strings[mapping])
        for name, file, mapping in zip(frames.name, frames.file, frames.mapping, strict=True)
    } == {
        "libfoo.so.1+0x1234": (f"[build-id {GNU_BUILD_ID}]", f"{GNU_BUILD_ID}\tlibfoo.so.1"),
        "shop+0x1500": (f"[build-id {GO_BUILD_ID}]", f"{GO_BUILD_ID}\tshop"),
        "busybox+0x77": (f"[build-id {'ab' * 16}]", f"{'ab' * 16}\tbusybox"),
    }


@ALL
def test_the_sample_types_of_a_heap_are_one_profile(version: str) -> None:
    (heap,) = convert(sample(f"{version}-heap.pb")).profiles
    assert heap.imported.type == "HEAP"
    assert heap.totals == {
        "alloc_objects/count": 100,
        "alloc_space/bytes": 6400,
        "inuse_objects/count": 10,
        "inuse_space/bytes": 640,
    }
    assert heap.decoded.samples == 1


@ALL
def test_values_of_each_event_are_summed(version: str) -> None:
    (profile,) = convert(sample(f"{version}-off_cpu.pb")).profiles
    assert (profile.imported.type, profile.totals) == (
        "CONTENTION",
        {"off_cpu/nanoseconds": 3 * 10**7},
    )


@ALL
def test_an_unknown_sample_type_is_rejected_by_name(version: str) -> None:
    converted = convert(sample(f"{version}-other_types.pb"))
    assert [profile.totals for profile in converted.profiles] == [{"wall/nanoseconds": 10**9}]
    (rejection,) = converted.rejections
    assert "cuda_kernel_exec/nanoseconds" in rejection.reason


def test_resource_attributes_may_be_indexes() -> None:
    (profile,) = convert(sample("1.10-indexes.pb")).profiles
    assert profile.attributes == {"service.name": "checkout", "team": "payments"}
    assert profile.totals["samples/count"] == 4


def test_equal_messages_give_equal_profiles() -> None:
    first, second = (convert(sample("1.10-values.pb")).profiles[0] for _ in range(2))
    assert first.imported == second.imported
