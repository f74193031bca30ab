"""Damaged blocks are rejected by section, without a crash."""

import numpy as np
import orjson
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import DayBlock, HourBlock, build_day, build_hour, open_day, open_hour
from profiles.engine.blocks.sections import container as containers
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.compression import checksum, decompress
from profiles.engine.errors import BadBlock, BadProfile, BadTree
from profiles.engine.metrics import Metric
from profiles.engine.stats.sum_of_squares import VarianceMerge
from tests.examples import examples
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.random_trees import meaning, tree_of, trees
from tests.profiles.pprofs import EXAMPLE

CPU = Metric("cpu", "nanoseconds")
PROFILES = [
    profile_of(tree_of(EXAMPLE), time=i, deployment=i % 2, labels={"instance": str(i)})
    for i in range(3)
]
HOUR = build_hour(PROFILES)
DAY = build_day([open_hour(HOUR)])


def use(block: HourBlock | DayBlock) -> None:
    """Read every section."""
    for by_function in (True, False):
        merge = Merge([CPU], by_function)
        if isinstance(block, HourBlock):
            merge.add_hour(block)
            merge.add_hour(block, np.arange(block.rows) < 1)
        else:
            merge.add_day(block)
        merge.tree()
    variance = VarianceMerge(CPU)
    if isinstance(block, HourBlock):
        variance.add_hour(block)
        assert len(block.identities.name_id) == len(block.profiles)
    else:
        variance.add_day(block)
        assert len(block.groups.of_profile) == len(block.profiles)
    variance.variance()


def opened(data: bytes) -> HourBlock | DayBlock:
    return open_hour(data) if data[2:3] == HOUR[2:3] else open_day(data)


@pytest.mark.parametrize("data", [HOUR, DAY], ids=["hour", "day"])
def test_a_truncated_block_is_rejected(data: bytes) -> None:
    use(opened(data))
    for end in range(3, len(data), 7):
        with pytest.raises(BadBlock):
            use(opened(data[:end]))


@pytest.mark.parametrize("data", [HOUR, DAY], ids=["hour", "day"])
def test_every_changed_byte_is_noticed(data: bytes) -> None:
    for at in range(len(data)):
        changed = bytearray(data)
        # Another bit of the version gives that of an older format, which is read.
        changed[at] ^= 128 if at == 3 else 1
        with pytest.raises(BadBlock):
            use(opened(bytes(changed)))


def test_error_names_the_damaged_section() -> None:
    at = HOUR.index(zstandard.FRAME_HEADER)
    changed = bytearray(HOUR)
    changed[at + 5] ^= 255
    with pytest.raises(BadBlock, match="section profiles"):
        use(open_hour(bytes(changed)))


def test_day_block_opened_as_an_hour_is_rejected() -> None:
    with pytest.raises(BadBlock, match="kind h"):
        open_hour(DAY)


def test_truncated_block_adds_nothing_to_a_merge() -> None:
    merge = Merge([CPU], by_function=True)
    merge.add_hour(open_hour(HOUR))
    before = meaning(merge.tree())
    other = build_hour([profile_of(tree_of({"other;names": 1}))])
    for end in range(100, len(other)):
        with pytest.raises(BadBlock):
            use(open_hour(other[:end]))
        try:
            merge.add_hour(open_hour(other[:end]))
        except BadBlock:
            assert meaning(merge.tree()) == before
        else:
            merge = Merge([CPU], by_function=True)
            merge.add_hour(open_hour(HOUR))


@pytest.mark.parametrize(
    ("rows", "cuts"),
    [
        (3, [0, 5, 3]),
        (3, [0, 2]),
        (3, [1, 3]),
        (3, []),
        (3, [0, 0, 3]),
        (-1, [0, -1]),
        (2**40, [0]),
    ],
)
def test_chunks_that_do_not_divide_the_rows_are_refused(rows: int, cuts: list[int]) -> None:
    head = {"metrics": [[*CPU]], "profiles": 3, "rows": rows, "cuts": cuts}
    with pytest.raises(BadBlock, match="section directory"):
        open_hour(containers.SectionWriter().encode(b"h", head))


@pytest.mark.parametrize("sections", [None, 5, [1], ["profiles"]], ids=str)
def test_a_directory_without_a_table_of_sections_is_refused(sections: object) -> None:
    directory = orjson.dumps({"sections": sections})
    numbers = [len(directory), checksum(directory)]
    fixed = b"fbh\x02" + b"".join(number.to_bytes(4, "little") for number in numbers)
    with pytest.raises(BadBlock, match="section directory"):
        open_hour(fixed + directory)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from([HOUR, DAY]), st.data())
def test_changed_sections_with_valid_checksums_are_rejected_or_read(
    data: bytes, draw: st.DataObject
) -> None:
    block = opened(data)
    container = block._container
    names = list(container.head["sections"])
    sections = {name: decompress(container._frame(name)) for name in names}
    name = draw.draw(st.sampled_from(names))
    body = bytearray(sections[name])
    for _ in range(draw.draw(st.integers(1, 4))):
        body[draw.draw(st.integers(0, len(body) - 1))] = draw.draw(st.integers(0, 255))
    sections[name] = bytes(body)
    head = {key: value for key, value in container.head.items() if key != "sections"}
    writer = containers.SectionWriter()
    writer.add_all(sections)
    try:
        use(opened(writer.encode(data[2:3], head)))
    except (BadBlock, BadProfile):
        return


@settings(max_examples=examples(50), deadline=None)
@given(trees(), st.data())
def test_a_damaged_tree_adds_nothing(tree: Tree, data: st.DataObject) -> None:
    good = profile_of(tree_of(EXAMPLE)).tree
    bad = bytearray(profile_of(tree).tree)
    bad[data.draw(st.integers(0, len(bad) - 1))] ^= data.draw(st.integers(1, 255))
    for merge in (Merge([CPU], by_function=True), VarianceMerge(CPU)):
        merge.add_encoded(good)
        before = meaning(merge.tree())
        with pytest.raises(BadTree):
            merge.add_encoded(bytes(bad))
        assert meaning(merge.tree()) == before
