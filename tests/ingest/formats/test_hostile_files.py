"""Small files that would take a conversion hours or gigabytes: rejected before the work is done."""

import asyncio
import gzip
import traceback
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest

from ingest.formats.detect import import_file
from ingest.formats.import_options import ImportOptions
from ingest.formats.jfr.metadata import Metadata
from ingest.formats.otlp.json_encoding import from_json
from ingest.formats.pyroscope.counts import find_meaning
from ingest.formats.pyroscope.trie import import_trie
from ingest.formats.v8_profiles import import_cpu_profile
from ingest.formats.work_budget import WorkBudget
from ingest.uploads import decode_pool
from profiles.engine.errors import BadProfile, TooLarge
from tests.ingest.formats.jfr import recordings

WIDTH = 8  # fields of each type, all of the next type


def peak_bytes(function: Callable[[], object]) -> int:
    """Return the memory that a function allocates, at its peak."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_nested_types_without_values_are_counted() -> None:
    """Check that 8**12 empty types are rejected: flattening them would not end."""
    names = [name for name in recordings.IDS if name.startswith("jdk.")]
    types: dict[str, list[recordings.Field]] = {
        name: [(f"f{number}", inner, "") for number in range(WIDTH)]
        for name, inner in pairwise(names)
    }
    event = recordings.metadata({**types, names[-1]: []})
    with pytest.raises(BadProfile, match="has over 1000 fields"):
        Metadata(event, WorkBudget(len(event))).layout(recordings.IDS[names[0]])


def test_wide_json_is_rejected_before_it_is_parsed() -> None:
    body = b'{"nodes":[' + b"{}," * 5_000_000 + b"{}]}"

    def convert() -> None:
        with pytest.raises(TooLarge, match="bytes of memory for its JSON"):
            import_cpu_profile(body)

    assert peak_bytes(convert) < len(body)


def test_wide_json_of_otlp_is_rejected_before_it_is_parsed() -> None:
    body = b'{"resourceProfiles":[' + b"{}," * 5_000_000 + b"{}]}"

    def convert() -> None:
        with pytest.raises(TooLarge, match="bytes of memory for its JSON"):
            from_json(body)

    assert peak_bytes(convert) < len(body)


def test_a_small_gzip_may_not_unpack_to_a_hundred_times_its_size() -> None:
    body = gzip.compress(b"main;work 1\n" * 1_000_000)
    allowed = 4 * 2**20 + 100 * len(body)

    def convert() -> None:
        with pytest.raises(TooLarge, match=f"allows {allowed:,} unpacked bytes"):
            import_file(body, ImportOptions(), 2**27)

    assert peak_bytes(convert) < 3 * allowed


def test_a_rejected_file_leaves_no_memory_behind() -> None:
    """Check that errors of conversions hold no frames, whose variables are the unpacked file."""

    def convert() -> None:
        unpacked = bytearray(100)
        raise BadProfile(f"{len(unpacked)} bytes cannot be read.") from ValueError("cause")

    with pytest.raises(BadProfile) as found:
        asyncio.run(decode_pool.run(1, convert, 100))
    frames = traceback.walk_tb(found.value.__traceback__)
    assert not [frame for frame, _ in frames if "unpacked" in frame.f_locals]
    assert found.value.__context__ is found.value.__cause__ is None


def test_names_that_grow_along_a_trie_are_not_copied_for_each_node() -> None:
    node = b"\x0aname-name-\x00\x01"  # length, name, value, number of children
    function = node * 400 + b"\x01;\x00\x01"
    body = function * 20 + b"\x01x\x01\x00"
    assert peak_bytes(lambda: import_trie(body, find_meaning("", "", "", 100))) < 4_000_000
