"""Encoding of trees as bytes."""

import random
import zlib
from dataclasses import replace

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import compression, stored_tree
from profiles.engine.encoding.codec import (
    MAGIC,
    Numbers,
    decode,
    encode,
    encode_columns,
    open_stored,
    read_mappings,
    read_numbers,
    unpack,
)
from profiles.engine.encoding.stored_tree import to_columns
from profiles.engine.errors import BadTree
from tests.examples import examples
from tests.profiles.engine.random_trees import tree_of, trees
from tests.profiles.pprofs import EXAMPLE


def same(one: Tree, other: Tree) -> bool:
    """Return whether two trees are equal, including the order of nodes."""
    arrays = [
        (one.id, other.id),
        (one.parent, other.parent),
        (one.frame, other.frame),
        (one.self, other.self),
        *(
            (getattr(one.frames, column), getattr(other.frames, column))
            for column in ("id", "name", "file", "line", "mapping")
        ),
    ]
    if one.labelled and other.labelled:
        assert one.labelled.label_sets == other.labelled.label_sets
        arrays += [
            (getattr(one.labelled, column), getattr(other.labelled, column))
            for column in ("node", "label_set", "values")
        ]
    return (
        one.metrics == other.metrics
        and one.frames.strings == other.frames.strings
        and bool(one.labelled) == bool(other.labelled)
        and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in arrays)
    )


@settings(max_examples=examples(200), deadline=None)
@given(trees())
def test_encoded_trees_are_decoded_unchanged(tree: Tree) -> None:
    assert same(decode(encode(tree)), tree)


def test_a_truncated_tree_is_rejected() -> None:
    data = encode(tree_of(EXAMPLE))
    for end in range(len(data)):
        with pytest.raises(BadTree):
            decode(data[:end])


def test_every_changed_byte_is_noticed() -> None:
    data = encode(tree_of(EXAMPLE))
    for at in range(len(data)):
        for bit in (1, 128):
            changed = bytearray(data)
            # Another bit of the version gives that of an older format, which is read.
            changed[at] ^= 128 if at == len(MAGIC) - 1 else bit
            with pytest.raises(BadTree):
                decode(bytes(changed))


def test_another_version_is_named() -> None:
    with pytest.raises(BadTree, match="version 9"):
        decode(MAGIC[:2] + b"\x09")


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_changed_tree_with_a_valid_checksum_is_rejected_or_read(data: st.DataObject) -> None:
    numbers, texts = map(bytearray, stored_tree.write(stored_tree.to_columns(tree_of(EXAMPLE))))
    body = data.draw(st.sampled_from([numbers, texts]))
    for _ in range(data.draw(st.integers(1, 5))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    frames = [zstandard.compress(bytes(section)) for section in (numbers, texts)]
    whole = len(frames[0]).to_bytes(4, "little") + b"".join(frames)
    try:
        tree = decode(MAGIC + zlib.crc32(whole).to_bytes(4, "little") + whole)
    except BadTree:
        return
    assert len(tree.id) == len(tree.parent)


def test_the_order_of_nodes_is_unchanged_for_large_trees() -> None:
    rng = random.Random(1)
    stacks = {";".join(rng.choices("abcdefgh", k=rng.randint(1, 30))): 5 for _ in range(2000)}
    tree = tree_of(stacks)
    assert same(decode(encode(tree)), tree)
    assert len(open_stored(encode(tree)).node) == len(stacks)


def test_damaged_trees_of_a_batch_do_not_affect_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = [encode(tree_of(EXAMPLE)), encode(tree_of({"main;b": 3})), encode(tree_of(EXAMPLE))]
    bad = [good[0][:-1], b"nothing", b"ft\x09" + good[0][3:], b""]
    found = unpack([good[0], *bad, good[1]])
    assert [isinstance(each, BadTree) for each in found] == [False, True, True, True, True, False]
    for numbers, tree in ((found[0], good[0]), (found[-1], good[1])):
        assert isinstance(numbers, Numbers)
        alone = read_numbers(tree)
        assert (numbers.head, bytes(numbers.data), numbers.offset) == (
            *(alone.head, bytes(alone.data), alone.offset),
        )
    assert unpack([]) == []
    assert unpack(bad[:1]) != [None]
    monkeypatch.setattr(compression, "MAX_AT_ONCE", 10)
    assert unpack(good) == [None, None, None]


def test_a_header_nested_deeper_than_the_stack_is_damage() -> None:
    depth = 1000  # orjson reads 1,024
    nested = b"[" * depth + b"]" * depth
    head = b'{"metrics":[[%s,"count"]],"strings":0,"columns":[]}' % nested
    sections = [compression.compress(len(head).to_bytes(4, "little") + head)] * 2
    body = len(sections[0]).to_bytes(4, "little") + b"".join(sections)
    with pytest.raises(BadTree, match="not a string"):
        decode(MAGIC + zlib.crc32(body).to_bytes(4, "little") + body)


def test_nodes_that_repeat_are_damage_for_every_reader() -> None:
    columns = to_columns(tree_of({"a": 1, "a;b": 2}))
    data = encode_columns(replace(columns, node=np.array([1, 1], np.int32)))
    for read in (decode, Merge(columns.metrics, by_function=True).add_encoded):
        with pytest.raises(BadTree, match="repeated"):
            read(data)


def test_mappings_that_are_no_list_are_damage() -> None:
    numbers = read_numbers(encode(tree_of(EXAMPLE)))
    with pytest.raises(BadTree):
        read_mappings(b"", numbers._replace(head={**numbers.head, "mappings": 0.5}))
