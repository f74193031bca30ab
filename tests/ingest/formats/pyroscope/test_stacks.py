"""Stacks with counts: folded, in lines, as trie and as tree."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pyroscope import stacks, trie
from ingest.formats.pyroscope.counts import CountMeaning, find_meaning
from ingest.formats.pyroscope.stacks import import_folded, import_lines
from ingest.formats.pyroscope.trie import import_tree, import_trie
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import decode_profile
from profiles.engine.pprof.limits import DecodeLimits
from tests.ingest.formats.pyroscope import encoding
from tests.ingest.pprof import varint

Import = Callable[[bytes, CountMeaning], list[ImportedProfile]]
CPU = find_meaning("", "", "", 100)
SPACE = find_meaning("alloc_space", "", "", 100)
_NAMES = st.text("abé(:/", min_size=1, max_size=6)
STACKS = st.dictionaries(
    st.lists(_NAMES, min_size=1, max_size=6).map(tuple), st.integers(1, 2**40), max_size=8
)


def counts_of(imported: list[ImportedProfile]) -> dict[tuple[str, ...], int]:
    """Return the self values of an import's only metric, or its first, by stack, root first."""
    if not imported:
        return {}
    (profile,) = imported
    tree = decode_profile(profile.pprof, profile.type, DecodeLimits()).tree
    found: Counter[tuple[str, ...]] = Counter()
    parent, frame, name = (each.tolist() for each in (tree.parent, tree.frame, tree.frames.name))
    values = tree.self[0].tolist()
    for node in filter(values.__getitem__, range(len(values))):
        path, at = [], node
        while at >= 0:
            path.append(tree.frames.strings[name[frame[at]]])
            at = parent[at]
        found[tuple(reversed(path))] += values[node]
    return dict(found)


@given(STACKS)
def test_every_format_gives_the_same_stacks(expected: dict[tuple[str, ...], int]) -> None:
    assert counts_of(import_folded(encoding.folded(expected), SPACE)) == expected
    assert counts_of(import_tree(encoding.tree(expected), SPACE)) == expected
    for size in (1, 2, 5, 100):
        assert counts_of(import_trie(encoding.trie(expected, size), SPACE)) == expected


@given(STACKS)
def test_equal_bodies_give_equal_bytes(expected: dict[tuple[str, ...], int]) -> None:
    body = encoding.folded(expected)
    assert import_folded(body, SPACE) == import_folded(body, SPACE)


def test_lines_of_the_same_stack_are_counted() -> None:
    found = import_lines(b"main;a b\n main;a b \r\nmain\n\n", SPACE)
    assert counts_of(found) == {("main", "a b"): 2, ("main",): 1}


def test_empty_functions_and_counts_of_zero_are_left_out() -> None:
    assert counts_of(import_folded(b";;main;;work; 2\nmain 0\n; 3\n", SPACE)) == {
        ("main", "work"): 2
    }


def test_a_path_that_ends_within_a_name_is_a_stack() -> None:
    body = b"\x00\x00\x01" + b"\x06main;w\x02\x01" + b"\x03ork\x05\x00"
    assert counts_of(import_trie(body, SPACE)) == {("main", "w"): 2, ("main", "work"): 5}


def test_stack_of_10000_frames_is_read() -> None:
    names = tuple(f"f{number}" for number in range(10_000))
    body = b"\x00\x00\x01" + b"".join(
        varint(len(name)) + name.encode() + b"\x00\x01" for name in names
    )
    found = import_tree(body[:-2] + b"\x07\x00", SPACE)
    assert counts_of(found) == {names: 7}


@pytest.mark.parametrize(
    ("importer", "body"),
    [
        (import_folded, b"a;b 1\nc;d 2\n"),
        (import_lines, b"a;b\nc;d\n"),
        (import_trie, encoding.trie({("a", "b"): 1, ("c", "d"): 2})),
        (import_tree, encoding.tree({("a", "b"): 1, ("c", "d"): 2})),
    ],
)
@pytest.mark.parametrize("limit", ["MAX_STACKS", "MAX_NAMES"])
def test_a_limit_is_named(
    importer: Import, body: bytes, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, limit, 1)
    with pytest.raises(TooLarge, match="A profile of stacks allows 1"):
        importer(body, SPACE)


@pytest.mark.parametrize("limit", ["MAX_LINES", "MAX_LINE_BYTES"])
def test_lines_are_limited(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, limit, 1)
    for importer in (import_folded, import_lines):
        with pytest.raises(TooLarge, match="line"):
            importer(b"a 1\nb 1\n", SPACE)


@pytest.mark.parametrize("limit", ["MAX_NODES", "MAX_NODE_BYTES"])
def test_nodes_are_limited(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trie, limit, 1)
    for importer, body in (
        (import_trie, encoding.trie({("ab", "cd"): 1})),
        (import_tree, encoding.tree({("ab", "cd"): 1})),
    ):
        with pytest.raises(TooLarge, match="trie or tree allows 1"):
            importer(body, SPACE)


def test_a_name_over_many_nodes_is_limited() -> None:
    body = encoding.trie({("x" * 5000,): 1}, 1000)
    with pytest.raises(BadProfile, match="4,096 bytes"):
        import_trie(body, SPACE)


@pytest.mark.parametrize("importer", [import_trie, import_tree])
def test_every_truncated_body_is_rejected(importer: Import) -> None:
    encode = encoding.trie if importer is import_trie else encoding.tree
    body = encode({("main", "work"): 300, ("main",): 1})
    for size in range(len(body)):
        with pytest.raises(BadProfile):
            importer(body[:size], SPACE)


@pytest.mark.parametrize("value", [2**62 + 1, 2**64 - 1])
def test_counts_beyond_64_bits_are_rejected(value: int) -> None:
    with pytest.raises(BadProfile, match="add up"):
        import_tree(encoding.tree({("a",): value}), SPACE)
    with pytest.raises(BadProfile, match="add up"):
        import_folded(b"a 4611686018427387\n" * 2, CPU)
