"""Stored trees as inputs of a block: partial reading, and errors."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.blocks import BlockProfile, build_hour, builder, open_hour
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import stored_tree
from profiles.engine.encoding.codec import MAGIC, Numbers, encode, read_strings
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.string_table import StringTable
from tests.examples import examples
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import tree_of
from tests.profiles.pprofs import EXAMPLE

few = settings(max_examples=examples(60), deadline=None)


def stored_of(numbers: bytes, texts: bytes) -> bytes:
    frames = [zstandard.compress(section) for section in (numbers, texts)]
    whole = len(frames[0]).to_bytes(4, "little") + b"".join(frames)
    return MAGIC + zlib.crc32(whole).to_bytes(4, "little") + whole


def with_head(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the same tree with a changed header of its numbers."""
    size = int.from_bytes(data[7:11], "little")
    numbers, texts = map(zstandard.decompress, (data[11 : 11 + size], data[11 + size :]))
    end = 4 + int.from_bytes(numbers[:4], "little")
    head = json.loads(numbers[4:end])
    change(head)
    text = json.dumps(head).encode()
    return stored_of(len(text).to_bytes(4, "little") + text + numbers[end:], texts)


def of_old(profile: BlockProfile) -> BlockProfile:
    """Return the profile in the format before trees stored their mappings."""
    return replace(profile, tree=with_head(profile.tree, lambda head: head.pop("mappings")))


def mapped(*names: str) -> Tree:
    """Return a tree whose frames cycle through these mappings."""
    tree = tree_of({"a;b;c;d;e;f": 7, "a;c": 5})
    strings = [*tree.frames.strings, *names]
    mapping = len(tree.frames.strings) + np.arange(len(tree.frames.id)) % len(names)
    frames = replace(
        tree.frames, strings=StringTable.from_strings(strings), mapping=mapping.astype(np.int32)
    )
    return replace(tree, frames=frames)


def mappings_in(data: bytes) -> list[tuple[str, str]]:
    """Return (function, mapping) of each frame of a block, sorted."""
    block = open_hour(data)
    names = block.functions.name[block.lines.function].tolist()
    return sorted(
        (block.strings[name], block.strings[mapping])
        for name, mapping in zip(names, block.lines.mapping.tolist(), strict=True)
    )


@few
@given(st.lists(drawn_profiles(), max_size=5), st.data())
def test_trees_of_the_former_encoding_give_the_same_block(
    profiles: list[BlockProfile], data: st.DataObject
) -> None:
    older = [of_old(p) if data.draw(st.booleans()) else p for p in profiles]
    assert build_hour(older) == build_hour(profiles)


def test_a_function_of_two_binaries_has_two_frames() -> None:
    trees = mapped("libz", "shop", "a"), mapped("shop"), mapped("shop", "libz")
    found = mappings_in(build_hour([profile_of(tree) for tree in trees]))
    assert found == sorted(
        {
            (frames.strings[name], frames.strings[mapping])
            for frames in (tree.frames for tree in trees)
            for name, mapping in zip(frames.name.tolist(), frames.mapping.tolist(), strict=True)
        }
    )
    assert len(found) > len(trees[0].frames.id)


def test_strings_are_decoded_only_for_trees_with_new_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[bytes] = []

    def noted(data: bytes, numbers: Numbers) -> StringTable:
        read.append(data)
        return read_strings(data, numbers)

    monkeypatch.setattr(builder, "read_strings", noted)
    trees = [
        encode(tree)
        for tree in (
            tree_of({"a;b": 1, "a;c": 1}),
            tree_of({"c;b;a": 1}),
            tree_of({"a;d": 1}),
            tree_of({"d": 3}),
            mapped("elsewhere"),
            mapped("elsewhere"),
        )
    ]
    build_hour([replace(profile_of(tree_of({"a": 1})), tree=tree) for tree in trees])
    assert read == [trees[0], trees[2], trees[4]]


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head["mappings"].clear(),
        lambda head: head["mappings"][0].__setitem__(1, 5),
        lambda head: head["mappings"][0].__setitem__(0, 10**6),
        lambda head: head["mappings"][0].__setitem__(0, -1),
        lambda head: head["mappings"].append([1]),
        lambda head: head.update(mappings="none"),
        lambda head: head.update(strings=1),
        lambda head: head["metrics"].append(["other", "count"]),
        lambda head: head["metrics"][0].__setitem__(0, "other"),
        lambda head: head["columns"][1].__setitem__(1, head["columns"][1][1] - 1),
        lambda head: head["columns"].pop(9),
        lambda head: head.pop("labels"),
    ],
)
def test_a_damaged_header_is_rejected(change: Callable[[dict[str, Any]], object]) -> None:
    profile = profile_of(tree_of(EXAMPLE))
    with pytest.raises(BadTree):
        build_hour([replace(profile, tree=with_head(profile.tree, change))])


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_changed_tree_with_a_valid_checksum_is_rejected_or_read(data: st.DataObject) -> None:
    tree = data.draw(st.sampled_from([tree_of(EXAMPLE), mapped("libz", "shop")]))
    numbers, texts = map(bytearray, stored_tree.write(stored_tree.to_columns(tree)))
    body = data.draw(st.sampled_from([numbers, texts]))
    for _ in range(data.draw(st.integers(1, 5))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    good = profile_of(tree_of({"main;b": 3}))
    bad = replace(profile_of(tree), tree=stored_of(bytes(numbers), bytes(texts)))
    try:
        block = open_hour(build_hour([good, bad]))
    except (BadTree, BadProfile, TooLarge):
        return
    assert block.count == 2
    assert len(block.lines.parent) >= 2


def test_values_of_a_metric_that_a_profile_lacks_are_zero() -> None:
    one, other = tree_of({"a;b": 3}), tree_of({"a;c": 4})
    totals = [("cpu", "nanoseconds", 4), ("idle", "nanoseconds", 0)]
    block = open_hour(build_hour([profile_of(one), replace(profile_of(other), totals=totals)]))
    sparse = block.sparse_values.read(block.sparse_values.chunks[0], [0, 1])
    assert sorted(sparse.values[0].tolist()) == [3, 4]
    assert sparse.values[1].tolist() == [0, 0]
