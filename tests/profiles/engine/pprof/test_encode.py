"""Exported pprof files decode to the same tree, in our decoder and in protobuf."""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.accumulators.merge import merge as merged
from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.encode import encode
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.varint import varint
from tests.examples import examples
from tests.profiles.engine.encoding.native_profile import (
    BASE,
    BUILD_ID,
    LIBRARY,
    PROGRAM,
    native_profile,
)
from tests.profiles.engine.pprof.test_samples import TYPES, raw
from tests.profiles.engine.random_trees import PathNumbers, meaning, tree_of, trees
from tests.profiles.pprof_proto import Profile
from tests.profiles.pprofs import EXAMPLE


def back(tree: Tree, profile_type: str) -> Tree:
    return decode_profile(
        gunzip(encode(tree), 2**26), profile_type, DecodeLimits(max_total=2**63 - 1)
    ).tree


@settings(max_examples=examples(200), deadline=None)
@given(trees())
def test_any_tree_is_read_back_unchanged(tree: Tree) -> None:
    assert meaning(back(tree, "CPU")) == meaning(tree)
    assert back(tree, "CPU").metrics == tree.metrics


@pytest.mark.parametrize(("name", "profile_type"), TYPES.items())
def test_real_profiles_are_read_back_unchanged(name: str, profile_type: str) -> None:
    tree = decode_profile(raw(name), profile_type, DecodeLimits(max_total=2**63 - 1)).tree
    assert meaning(back(tree, profile_type)) == meaning(tree)


def native_tree() -> Tree:
    return decode_profile(native_profile(), "CPU", DecodeLimits()).tree


def test_addresses_without_symbols_have_a_mapping_and_no_function() -> None:
    message = Profile.FromString(gzip.decompress(encode(native_tree())))
    texts = [text.decode() for text in message.string_table]
    mappings = {each.id: each for each in message.mapping}
    assert sorted(
        (
            location.address,
            texts[mappings[location.mapping_id].filename] if location.mapping_id else "",
        )
        for location in message.location
        if not location.line
    ) == [(0x99, ""), (0x777, PROGRAM), (0x1234, LIBRARY), (0x5678, LIBRARY)]
    assert {texts[function.name] for function in message.function} == {"main", "foo_work"}
    assert sorted(
        (
            texts[each.filename],
            texts[each.build_id],
            each.memory_start,
            each.memory_limit,
            each.file_offset,
            each.has_functions,
        )
        for each in message.mapping
    ) == [
        (PROGRAM, "", 0, 0, 0, True),
        (PROGRAM, "", 0, 0x1000, 0, False),
        (LIBRARY, BUILD_ID, 0, 0, 0, True),
        (LIBRARY, BUILD_ID, 0, 0x6000, 0, False),
    ]


def test_a_downloaded_profile_of_native_code_decodes_to_the_same_tree() -> None:
    tree = native_tree()
    assert meaning(back(tree, "CPU")) == meaning(tree)
    assert encode(back(tree, "CPU")) == encode(tree)


def test_addresses_in_trees_by_function_keep_their_build_ids() -> None:
    merge = Merge(native_tree().metrics, by_function=True)
    merge.add_tree(native_tree())
    again = back(merge.tree(), "CPU")
    assert meaning(again)["own"] == meaning(merge.tree())["own"]
    assert f"{BUILD_ID}\tlibfoo.so.1" in again.frames.strings


def test_a_library_at_another_address_is_the_same_and_another_build_is_not() -> None:
    def nodes(base: int, build_id: str) -> int:
        other = decode_profile(native_profile(base, build_id), "CPU", DecodeLimits()).tree
        return len(merged([native_tree(), other]).id)

    assert nodes(0x7FAA_0000_0000, BUILD_ID) == len(native_tree().id)
    # 0x1234 in foo_work and in main, and 0x5678
    assert nodes(BASE, "0" * 40) == len(native_tree().id) + 3


@pytest.mark.slow  # Go compiles pprof at its first use
def test_pprof_reads_encoded_profiles(tmp_path: Path) -> None:
    """It finds no binary of this build id here, and names addresses by their binary."""
    file = tmp_path / "native.pb.gz"
    file.write_bytes(encode(native_tree()))
    go = shutil.which("go", path=f"{os.environ['PATH']}:/usr/local/go/bin")
    assert go, "this test needs Go"
    command = [go, "tool", "pprof", "-symbolize=none", "-addresses", "-top", str(file)]
    environment = {**os.environ, "PPROF_TMPDIR": str(tmp_path)}
    text = subprocess.run(
        command, capture_output=True, check=True, text=True, env=environment
    ).stdout
    assert "0000000000001234 [libfoo.so.1]" in text
    assert "0000000000005678 [libfoo.so.1]" in text
    assert "0000000000000777 [app]" in text
    assert "main main.c:3" in text


def test_encoded_profile_has_time_duration_and_default_metric() -> None:
    data = gzip.decompress(encode(tree_of(EXAMPLE), time_ns=7, duration_ns=10**10, default="cpu"))
    message = Profile.FromString(data)
    assert (message.time_nanos, message.duration_nanos) == (7, 10**10)
    assert message.string_table[message.default_sample_type] == b"cpu"
    assert message.string_table[0] == b""
    assert len(message.function) == 4
    assert len(message.sample) == 5


def test_equal_trees_give_equal_bytes() -> None:
    assert encode(tree_of(EXAMPLE)) == encode(tree_of(EXAMPLE))


def test_empty_tree_is_read_back_unchanged() -> None:
    empty = tree_of({})
    assert np.array_equal(back(empty, "CPU").parent, empty.parent)


def test_stack_of_10000_frames_is_read_back_unchanged() -> None:
    deep = tree_of({";".join(f"f{i}" for i in range(10_000)): 1})
    paths = PathNumbers()
    exported, own = (meaning(each, paths.join)["own"] for each in (back(deep, "CPU"), deep))
    assert exported == own


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_written_as_protobuf_does(number: int) -> None:
    message = Profile(duration_nanos=number)
    assert message.SerializeToString() == (b"\x50" + varint(number) if number else b"")
