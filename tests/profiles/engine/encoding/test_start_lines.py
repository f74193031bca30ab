"""Start lines of functions, from pprof through all forms of storage and back.

The files of version_2/ were made of native_profile() by the formats before they had start lines.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from profiles.engine.accumulators.merge import Merge, merge
from profiles.engine.blocks import build_day, build_hour, open_day, open_hour
from profiles.engine.calltree.align import align
from profiles.engine.calltree.reshape import prune
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import decode, encode, encode_columns
from profiles.engine.encoding.stored_tree import to_columns
from profiles.engine.errors import BadProfile, BadTree
from profiles.engine.pprof import encode as pprof
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.gunzip import gunzip
from tests.examples import examples
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.encoding.native_profile import native_profile
from tests.profiles.engine.pprof import oracle
from tests.profiles.engine.pprof.random_pprofs import messages
from tests.profiles.pprof_proto import Profile
from tests.profiles.pprofs import PprofBuilder

FILES = Path(__file__).parent / "version_2"
LIMITS = DecodeLimits(max_total=2**63 - 1)
Start = tuple[str, int, int]  # name, line, start line of the function


def profile_with(*calls: Start, value: int = 5) -> bytes:
    """Return a profile with one stack of these calls, root first."""
    builder = PprofBuilder()
    message = builder.message
    message.sample_type.add(type=builder.string("cpu"), unit=builder.string("nanoseconds"))
    stack = [builder.frame(name, "main.go", line) for name, line, _ in calls]
    for function, (_, _, start) in zip(message.function, calls, strict=True):
        function.start_line = start
    message.sample.add(location_id=stack[::-1], value=[value])
    return bytes(message.SerializeToString())


def tree_with(*calls: Start) -> Tree:
    return decode_profile(profile_with(*calls), "CPU", LIMITS).tree


def starts(tree: Tree) -> set[Start]:
    frames, strings = tree.frames, tree.frames.strings
    columns = (frames.name, frames.line, frames.get_start_lines())
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(strings[name], line, start) for name, line, start in rows}


def forms(trees: Sequence[Tree]) -> list[Merge]:
    """Return the sums of the trees, exact in start lines, as stored trees, an hour and a day."""
    sums = [Merge(trees[0].metrics, by_start_line=True) for _ in range(3)]
    for tree in trees:
        sums[0].add_encoded(encode(tree))
    hour = open_hour(build_hour([profile_of(tree) for tree in trees]))
    sums[1].add_hour(hour)
    sums[2].add_day(open_day(build_day([hour])))
    return sums


CALLS: tuple[Start, ...] = (("main", 12, 10), ("work", 44, 40), ("unknown", 7, 0))


def test_start_lines_of_a_profile_are_kept_in_all_forms() -> None:
    tree = tree_with(*CALLS)
    assert starts(tree) == set(CALLS)
    assert starts(decode(encode(tree))) == set(CALLS)
    for each in forms([tree]):
        assert starts(each.tree()) == set(CALLS)
    assert starts(prune(tree)) == set(CALLS)
    assert starts(align(tree, tree_with(("new", 3, 2)))[0]) == {*CALLS, ("new", 3, 2)}


def test_pprof_file_has_the_start_lines() -> None:
    message: Any = Profile.FromString(gunzip(pprof.encode(tree_with(*CALLS)), 2**20))
    found = {message.string_table[each.name]: each.start_line for each in message.function}
    assert found == {name.encode(): start for name, _, start in CALLS}


def test_line_of_two_versions_is_two_frames_of_an_exact_sum() -> None:
    """Code above the function has grown, so that line 44 is another call in it."""
    older, newer = (
        tree_with(("main", 12, 10), ("work", 44, 40)),
        tree_with(("main", 12, 10), ("work", 44, 43)),
    )
    expected = {("main", 12, 10), ("work", 44, 40), ("work", 44, 43)}
    for each in forms([older, newer]):
        tree = each.tree()
        assert starts(tree) == expected
        assert int(tree.self.sum()) == 10
        message: Any = Profile.FromString(gunzip(pprof.encode(tree), 2**20))
        assert len(message.function) == 3


def test_other_sums_have_the_greatest_start_line_in_any_order() -> None:
    trees = [tree_with(("work", 44, start)) for start in (0, 40, 43)]
    for order in permutations(trees):
        summed = merge(order)
        assert starts(summed) == {("work", 44, 43)}
        assert len(summed.id) == 1
        assert summed.id.tolist() == trees[0].id.tolist()


def test_profiles_without_start_lines_are_stored_without_their_column() -> None:
    plain, started = tree_with(("work", 44, 0)), tree_with(("work", 44, 40))
    assert plain.frames.start_line is None
    assert len(encode(started)) > len(encode(plain))
    assert decode(encode(plain)).frames.start_line is None


@settings(max_examples=examples(200), deadline=None)
@given(messages())
def test_decoder_reads_the_greatest_start_line_of_each_function(message: Any) -> None:
    try:
        tree = decode_profile(message.SerializeToString(), "CPU", LIMITS).tree
    except BadProfile:
        return
    reader = oracle._OracleReader(message)
    of_frame: dict[oracle.Frame, int] = defaultdict(int)
    for line in chain.from_iterable(each.line for each in message.location):
        function = reader.functions.get(line.function_id)
        name = function and (reader.text(function.name) or reader.text(function.system_name))
        if function and name:
            number = line.line if 0 <= line.line < 2**31 else 0
            start = function.start_line if 0 <= function.start_line < 2**31 else 0
            frame = name, reader.text(function.filename), number
            of_frame[frame] = max(of_frame[frame], start)
    frames, strings = tree.frames, tree.frames.strings
    used = [
        (strings[name], strings[file], line)
        for name, file, line in zip(
            frames.name.tolist(), frames.file.tolist(), frames.line.tolist(), strict=True
        )
    ]
    greatest: dict[tuple[str, str], int] = defaultdict(int)
    for name, file, line in used:
        greatest[name, file] = max(greatest[name, file], of_frame[name, file, line])
    assert frames.get_start_lines().tolist() == [greatest[name, file] for name, file, _ in used]


@pytest.mark.parametrize("form", ["tree", "hour", "day"])
@pytest.mark.parametrize("by_function", [True, False])
def test_version_2_is_read_without_start_lines(form: str, by_function: bool) -> None:
    data = (FILES / f"{form}.bin").read_bytes()
    assert data[3 if data[:2] == b"fb" else 2] == 2
    today = decode_profile(native_profile(), "CPU", DecodeLimits()).tree
    sums = Merge(today.metrics, by_function)
    if form == "tree":
        sums.add_encoded(data)
    elif form == "hour":
        sums.add_hour(open_hour(data))
    else:
        sums.add_day(open_day(data))
    found, expected = sums.tree(), Merge(today.metrics, by_function)
    expected.add_tree(today)
    tree = expected.tree()
    assert sorted(found.id.tolist()) == sorted(tree.id.tolist())
    assert int(found.self.sum()) == int(tree.self.sum()) == 11111
    assert not found.frames.get_start_lines().any()


def test_version_2_is_compacted_with_todays_trees() -> None:
    old = (FILES / "tree.bin").read_bytes()
    today = profile_of(decode(old))
    stored = open_hour((FILES / "hour.bin").read_bytes())
    block = open_hour(build_hour([today], [(stored, None)]))
    sums = Merge(decode(old).metrics)
    sums.add_hour(block)
    assert int(sums.tree().self.sum()) == 2 * 11111
    assert np.array_equal(np.sort(sums.tree().id), np.sort(decode(old).id))


@pytest.mark.parametrize("rows", [1, 2, 4, 50])
def test_column_of_another_length_than_the_functions_is_rejected(rows: int) -> None:
    columns = to_columns(tree_with(*CALLS))
    start_line = np.ones(rows, np.int32)
    data = encode_columns(
        replace(columns, frames=columns.frames._replace(function_start_line=start_line))
    )
    with pytest.raises(BadTree, match="differ in length"):
        decode(data)
    with pytest.raises(BadTree, match="differ in length"):
        build_hour([replace(profile_of(tree_with(*CALLS)), tree=data)])


def test_start_line_beyond_the_numbers_of_lines_is_rejected() -> None:
    columns = to_columns(tree_with(*CALLS))
    start_line = np.full(3, 2**31, np.uint32).view(np.int32)
    frames = columns.frames._replace(function_start_line=start_line)
    data = encode_columns(replace(columns, frames=frames))
    with pytest.raises(BadTree):
        decode(data)
    with pytest.raises(BadTree):
        build_hour([replace(profile_of(tree_with(*CALLS)), tree=data)])
