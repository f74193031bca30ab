"""Trees and blocks of version 1 are read, and merge with those of today.

The files of version_1/ were made of native_profile() before the formats had version 2.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import build_hour, open_day, open_hour
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import decode, encode
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.encoding.native_profile import BUILD_ID, LIBRARY, native_profile

FILES = Path(__file__).parent / "version_1"
SYMBOLISED = {("main", "main.c", 3), ("foo_work", "foo.c", 41)}
FORMS = pytest.mark.parametrize("form", ["tree", "hour", "day"])


def new_tree() -> Tree:
    return decode_profile(native_profile(), "CPU", DecodeLimits()).tree


def add(merge: Merge, form: str) -> None:
    """Add a file of version 1 to the sum."""
    data = (FILES / f"{form}.bin").read_bytes()
    assert data[3 if data[:2] == b"fb" else 2] == 1
    if form == "tree":
        merge.add_encoded(data)
    elif form == "hour":
        merge.add_hour(open_hour(data))
    else:
        merge.add_day(open_day(data))


def frames_of(tree: Tree) -> list[tuple[str, str, int]]:
    frames, strings = tree.frames, tree.frames.strings
    columns = (frames.name.tolist(), frames.file.tolist(), frames.line.tolist())
    return [(strings[name], strings[file], line) for name, file, line in zip(*columns, strict=True)]


def totals(tree: Tree) -> dict[str, int]:
    """Return the self value of each node whose stack has symbols only, by its function."""
    frames = frames_of(tree)
    return {
        frames[frame][0]: value
        for frame, value in zip(tree.frame.tolist(), tree.self[0].tolist(), strict=True)
        if "+0x" not in frames[frame][0] and value
    }


@FORMS
@pytest.mark.parametrize("by_function", [True, False])
def test_version_1_is_read(form: str, by_function: bool) -> None:
    merge = Merge(new_tree().metrics, by_function)
    add(merge, form)
    tree = merge.tree()
    assert int(tree.self.sum()) == 11111
    assert {name for name, _, _ in frames_of(tree)} == {
        *("main", "foo_work", "libfoo.so.1+0x1234", "libfoo.so.1+0x5678", "app+0x777", "0x99")
    }


@FORMS
@pytest.mark.parametrize("by_function", [True, False])
def test_symbolised_frames_of_both_versions_are_the_same(form: str, by_function: bool) -> None:
    merge = Merge(new_tree().metrics, by_function)
    add(merge, form)
    merge.add_encoded(encode(new_tree()))
    tree = merge.tree()
    frames = frames_of(tree)
    assert len(frames) == len(set(frames))
    symbolised = [frame for frame in frames if "0x" not in frame[0]]
    assert sorted(symbolised) == sorted(
        {(name, file, 0 if by_function else line) for name, file, line in SYMBOLISED}
    )
    assert len(set(tree.id.tolist())) == len(tree.id)
    assert totals(tree) == {"foo_work": 2, "0x99": 20000}
    # Without a build id, an address stays what it was.
    assert frames.count(("app+0x777", "", 0)) == 1


def test_version_1_is_compacted_with_todays_trees() -> None:
    old = (FILES / "tree.bin").read_bytes()
    tree = new_tree()
    block = open_hour(build_hour([profile_of(tree), replace(profile_of(tree), tree=old)]))
    merge = Merge(tree.metrics)
    merge.add_hour(block)
    strings = merge.tree().frames.strings
    assert f"{BUILD_ID}\t{LIBRARY}" in strings
    assert f"[build-id {BUILD_ID}]" in strings


def test_decoded_version_1_has_its_mappings() -> None:
    frames = decode((FILES / "tree.bin").read_bytes()).frames
    assert {frames.strings[i] for i in frames.mapping} == {BUILD_ID, "/usr/bin/app", ""}
