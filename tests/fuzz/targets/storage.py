"""Stored bytes: trees, blocks, and results in the shared cache.

Each has two targets: on the bytes as stored, and on their sections under good checksums.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import (
    BlockProfile,
    DayBlock,
    HourBlock,
    build_day,
    build_hour,
    open_day,
    open_hour,
)
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import codec
from profiles.engine.encoding.compression import decompress
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.stats.sum_of_squares import VarianceMerge
from profiles.queries import result_codec
from tests.fuzz import sections, seeds
from tests.fuzz.fuzz_target import FuzzTarget, InputForm
from tests.fuzz.targets.pprofs import assert_same_tree

MAX_NODES = 100_000
_UNREADABLE = (BadTree, BadProfile, TooLarge)
# A zstd frame of some bytes may claim 1 GiB, and a column of no width 2^27 rows: stored bytes are
# bounded by these constants, not by their size.
_STORED_BYTES = 3 * 2**30
_SEALED_BYTES = 2**27


def decode_tree(stored: bytes) -> None:
    """Decode a stored tree in all ways; what decodes must encode and decode to the same."""
    tree = codec.decode(stored)
    assert_same_tree(codec.decode(codec.encode(tree)), tree)
    _merge_tree(stored, tree)
    _compact_tree(stored, tree)


def _merge_tree(stored: bytes, tree: Tree) -> None:
    """Merge the columns without creating a tree; the sums must be those of the tree."""
    metrics = [*dict.fromkeys(tree.metrics)]
    merge = Merge(metrics, by_function=True, max_nodes=MAX_NODES)
    try:
        merge.add_encoded(stored)
    except _UNREADABLE:
        return  # it checks more than decoding does
    expected = Merge(metrics, by_function=True, max_nodes=MAX_NODES)
    expected.add_tree(tree)
    if len(metrics) == len(tree.metrics):
        sums, others = (each.tree().self.sum(axis=1) for each in (merge, expected))
        assert sums.tobytes() == others.tobytes(), "the merged sums differ"
    for metric in metrics[:1]:
        variance = VarianceMerge(metric, MAX_NODES)
        variance.add_encoded(stored)
        variance.variance()


def _compact_tree(stored: bytes, tree: Tree) -> None:
    profile = _profile(stored, tree)
    try:
        block = open_hour(build_hour([profile, profile], max_nodes=MAX_NODES))
    except _UNREADABLE:
        return
    sums, _ = block.sums(range(len(block.metrics)), None, by_function=False)
    by_metric = dict(zip(block.metrics, sums.sum(axis=1).tolist(), strict=True))
    for metric, row in zip(tree.metrics, tree.self, strict=True):
        if tree.metrics.count(metric) == 1 and abs(row.astype(np.float64)).sum() < 2.0**60:
            assert by_metric[metric] == 2 * int(row.sum()), "the sums of the block differ"


def _profile(stored: bytes, tree: Tree) -> BlockProfile:
    return BlockProfile(
        name_id="name",
        time=0,
        time_source="assigned",
        deployment=1,
        agent=None,
        duration_ns=1,
        weight=0,
        samples=1,
        labels={},
        totals=[(*metric, 0) for metric in tree.metrics],
        body_hash=bytes(16),
        tree=stored,
    )


def read_block(stored: bytes) -> None:
    """Read every section of a block as queries and compaction do."""
    if stored[2:3] == b"d":
        _use_day(open_day(stored, "CPU"))
    else:
        _use_hour(open_hour(stored, "CPU"))


def _use_hour(block: HourBlock) -> None:
    for by_function in (True, False):
        merge = Merge(block.metrics, by_function, MAX_NODES)
        merge.add_hour(block)
        merge.add_hour(block, np.arange(block.rows) < 1)
        merge.tree()
    for metric in block.metrics[:1]:
        variance = VarianceMerge(metric)
        variance.add_hour(block)
        variance.variance()
    assert len(block.identities.name_id) == len(block.profiles) == block.count
    build_day([block], MAX_NODES)
    build_hour([], [(block, None)], MAX_NODES)


def _use_day(block: DayBlock) -> None:
    for by_function in (True, False):
        merge = Merge(block.metrics, by_function, MAX_NODES)
        merge.add_day(block)
        merge.tree()
    if block.has_variance:
        for metric in block.metrics[:1]:
            variance = VarianceMerge(metric)
            variance.add_day(block)
            variance.variance()
    assert len(block.groups.of_profile) == len(block.profiles) == block.count


def read_block_sections(data: bytes) -> None:
    try:
        stored = sections.seal_block(data)
    except (ValueError, TypeError) as error:
        raise BadTree(str(error)) from None
    read_block(stored)


def decode_result(stored: bytes) -> None:
    """Decode a cached result; what decodes must have one encoded form."""
    value = result_codec.decode(stored)
    once = result_codec.encode(value)
    if b"set" not in decompress(once):  # sets have no order
        assert result_codec.encode(result_codec.decode(once)) == once, "it has two forms"


@cache
def _tree_sections() -> tuple[bytes, ...]:
    return tuple(map(sections.open_tree, seeds.stored_trees()))


@cache
def _block_sections() -> tuple[bytes, ...]:
    return tuple(map(sections.open_block, seeds.blocks()))


@cache
def _result_sections() -> tuple[bytes, ...]:
    return tuple(map(sections.open_result, seeds.results()))


def _after(seal: Callable[[bytes], bytes], run: Callable[[bytes], None]) -> Callable[[bytes], None]:
    return lambda data: run(seal(data))


_HEADER = (
    *(b'"columns":[[1,2]]', b"[0,0,0,1]", b"[8,1,-1,3]", b'"metrics":[["a","b"]]', b"null"),
    *(b'"cuts":[0,1]', b'"rows":2', b'"profiles":1', b'"factors":[1]', b'"labels":[]'),
)
_FORMS = (
    *(b'["array","<i8",[1],0]', b'["strings",0,0]', b'["class","Metric",["a","b"]]'),
    *(b'["dict",[["tuple",[1,2]]]]', b'["enum","Shape","flame"]', b'["timedelta",1]'),
    *(b'["datetime","2026-01-01"]', b'["rows","tuple","FunctionRow",[[]]]', b'["list",['),
)
TARGETS = (
    FuzzTarget("tree", decode_tree, _UNREADABLE, seeds.stored_trees, memory=_STORED_BYTES),
    FuzzTarget(
        "tree-sections",
        _after(sections.seal_tree, decode_tree),
        _UNREADABLE,
        _tree_sections,
        _HEADER,
        InputForm.SECTIONS,
        memory=_SEALED_BYTES,
    ),
    FuzzTarget("block", read_block, _UNREADABLE, seeds.blocks, max_size=8192, memory=_STORED_BYTES),
    FuzzTarget(
        "block-sections",
        read_block_sections,
        _UNREADABLE,
        _block_sections,
        _HEADER,
        InputForm.SECTIONS,
        max_size=8192,
        memory=_STORED_BYTES,
    ),
    FuzzTarget(
        "result", decode_result, (result_codec.UnknownFormat,), seeds.results, memory=_STORED_BYTES
    ),
    FuzzTarget(
        "result-sections",
        _after(sections.seal_result, decode_result),
        (result_codec.UnknownFormat,),
        _result_sections,
        _FORMS,
        InputForm.SECTIONS,
        memory=_SEALED_BYTES,
    ),
)
