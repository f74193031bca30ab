"""Exported pprof files decode to the same tree, in our decoder and in protobuf."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.encode import encode
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.varint import varint
from tests.examples import examples
from tests.profiles.engine.pprof.test_samples import TYPES, raw
from tests.profiles.engine.random_trees import meaning, tree_of, trees
from tests.profiles.pprof_proto import Profile
from tests.profiles.pprofs import EXAMPLE


def back(tree: Tree, profile_type: str) -> Tree:
    return decode_profile(
        gunzip(encode(tree), 2**26), profile_type, DecodeLimits(max_total=2**63 - 1)
    ).tree


@settings(max_examples=examples(200), deadline=None)
@given(trees())
def test_the_round_trip_is_exact(tree: Tree) -> None:
    assert meaning(back(tree, "CPU")) == meaning(tree)
    assert back(tree, "CPU").metrics == tree.metrics


@pytest.mark.parametrize(("name", "profile_type"), TYPES.items())
def test_so_it_is_for_real_profiles(name: str, profile_type: str) -> None:
    tree = decode_profile(raw(name), profile_type, DecodeLimits(max_total=2**63 - 1)).tree
    assert meaning(back(tree, profile_type)) == meaning(tree)


def test_what_it_says_beside_the_tree() -> None:
    data = gzip.decompress(encode(tree_of(EXAMPLE), time_ns=7, duration_ns=10**10, default="cpu"))
    message = Profile.FromString(data)
    assert (message.time_nanos, message.duration_nanos) == (7, 10**10)
    assert message.string_table[message.default_sample_type] == b"cpu"
    assert message.string_table[0] == b""
    assert len(message.function) == 4
    assert len(message.sample) == 5


def test_the_same_tree_has_the_same_bytes() -> None:
    assert encode(tree_of(EXAMPLE)) == encode(tree_of(EXAMPLE))


def test_an_empty_tree() -> None:
    empty = tree_of({})
    assert np.array_equal(back(empty, "CPU").parent, empty.parent)


def test_deep_stacks() -> None:
    deep = tree_of({";".join(f"f{i}" for i in range(10_000)): 1})
    assert meaning(back(deep, "CPU"))["own"] == meaning(deep)["own"]


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_written_as_protobuf_does(number: int) -> None:
    message = Profile(duration_nanos=number)
    assert message.SerializeToString() == (b"\x50" + varint(number) if number else b"")
