"""Seed inputs: the small sample profiles, handwritten ones, and what is built from them."""

import gzip
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np

from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_hour
from profiles.engine.calltree.functions import find_functions
from profiles.engine.calltree.peek import Neighbour, Peek
from profiles.engine.calltree.top import FunctionRow
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, Missing, Reason, ScanStats
from profiles.engine.encoding.codec import encode
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.stats.spread import MeasuredSum, Spread
from profiles.queries import result_codec
from profiles.queries.compare import CompareResult, FunctionChange, Intervals, TotalChange
from profiles.queries.compare_sides import Untested, UntestedReason
from profiles.queries.focus import FocusResult
from profiles.queries.functions import TopResult
from profiles.queries.reports.history import SeriesSums, TimeSpan
from profiles.queries.selection import FilterOption, ProfileSelection, View, ViewFilter
from profiles.queries.tree import TreeResult
from projects.profile_types import ProfileType
from tests.attacks.attackers import hostile_profiles as hostile
from tests.ingest.pprof import field
from tests.paths import SAMPLES
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.pprofs import EXAMPLE, PprofBuilder, pprof

LARGEST_SEED = 4096  # bytes
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ANY_TOTAL = DecodeLimits(max_total=2**63 - 1)


@cache
def raw_profiles() -> tuple[bytes, ...]:
    """Return uncompressed pprof profiles of at most LARGEST_SEED bytes."""
    samples = [gzip.decompress(path.read_bytes()) for path in sorted(SAMPLES.glob("*.pb.gz"))]
    return (
        pprof(EXAMPLE),
        pprof({"a;b": (3, 30), "a": (1, 10)}, [("samples", "count"), ("cpu", "nanoseconds")]),
        pprof({"f": 1}, time_nanos=NOON_NS, duration_nanos=10**10, period=10_000_000),
        build_labelled(),
        build_native(),
        hostile.one_name_of_many_locations(40, 5),
        hostile.nodes_of_inlined_lines(5, 4),
        hostile.deep_stacks(20, 3),
        hostile.comments(40, 3),
        hostile.bad_strings(4),
        hostile.assembled([], sample_types=[(1, 2)]) + field(14, 1),
        *(sample for sample in samples if len(sample) <= LARGEST_SEED),
    )


NOON_NS = int(NOON.timestamp()) * 10**9


def build_labelled() -> bytes:
    """Return a profile with text and number labels, a mapping, and a second file."""
    builder = PprofBuilder()
    message, text = builder.message, builder.string
    message.sample_type.add(type=text("inuse_space"), unit=text("kilobytes"))
    message.sample_type.add(type=text("alloc_space"), unit=text("bytes"))
    message.mapping.add(id=1, memory_start=0x1000, filename=text("/bin/shop"), build_id=text("ab1"))
    main, work = builder.frame("main"), builder.frame("wörk", "b.py", 7)
    message.location[0].mapping_id = 1
    message.location.add(id=9, mapping_id=1, address=0x1234)  # without a function
    for number, stack in enumerate(([main], [work, main], [9, work, main], [])):
        sample = message.sample.add(location_id=stack, value=[number + 1, 8 * number])
        if number:
            sample.label.add(key=text("thread"), str=text("worker"))
            sample.label.add(key=text("bytes"), num=512 * number, num_unit=text("bytes"))
    message.comment.extend([text("flamewatch.sampler=native"), text("flamewatch.samples=12")])
    return bytes(message.SerializeToString())


def build_native() -> bytes:
    """Return addresses without symbols: in two builds, in no known build, and in no binary."""
    builder = PprofBuilder()
    message, text = builder.message, builder.string
    message.sample_type.add(type=text("cpu"), unit=text("nanoseconds"))
    builds = (("/lib/libc.so.6", "0a" * 20), ("/lib/libc.so.6", "0b" * 20), ("/bin/shop", ""))
    for number, (path, build) in enumerate(builds, 1):
        start = 0x7F00_0000_0000 + number * 0x10_0000
        message.mapping.add(
            id=number,
            memory_start=start,
            memory_limit=start + 0x1_0000,
            file_offset=0x2000 * (number - 1),
            filename=text(path),
            build_id=text(build),
        )
        for offset in (0x10, 0x20):
            address = start + offset
            message.location.add(id=len(message.location) + 1, mapping_id=number, address=address)
    message.location.add(id=len(message.location) + 1, address=2**64 - 1)
    ids = [location.id for location in message.location]
    for number in range(len(ids)):
        message.sample.add(location_id=ids[number:], value=[number + 1])
    return bytes(message.SerializeToString())


@cache
def trees() -> tuple[Tree, ...]:
    types = itertools.cycle(["CPU", "HEAP"])
    return tuple(
        decode_profile(raw, type_, ANY_TOTAL).tree
        for raw, type_ in zip(raw_profiles(), types, strict=False)
    )


@cache
def stored_trees() -> tuple[bytes, ...]:
    return tuple(encode(tree) for tree in trees())


@cache
def block_profiles() -> tuple[BlockProfile, ...]:
    return tuple(
        profile_of(
            tree,
            time=number * 10**6,
            deployment=number % 2,
            agent=number or None,
            labels={"instance": str(number % 3)},
        )
        for number, tree in enumerate(trees()[:6])
    )


@cache
def blocks() -> tuple[bytes, ...]:
    """Return hour blocks and day blocks, with and without sample labels."""
    few, many = build_hour(block_profiles()[:1]), build_hour(block_profiles())
    return few, many, build_day([open_hour(few)]), build_day([open_hour(many)])


@cache
def results() -> tuple[bytes, ...]:
    """Return an encoded result of each kind that the result cache holds."""
    return tuple(result_codec.encode(value) for value in _results())


def _results() -> Sequence[object]:
    tree, cpu = trees()[0], Metric("cpu", "nanoseconds")
    selection = ProfileSelection(
        7,
        "shop",
        ProfileType.CPU,
        NOON,
        NOON + timedelta(hours=1),
        zones=("eu-1",),
        labels=(("instance", ("a", "b")),),
        total_range=(1, 5),
    )
    view = View(cpu, (ViewFilter(FilterOption.HIDE, "/a.*/"),), max_nodes=3)
    missing = Missing(NOON, NOON, "damaged", 1, Reason.UNREADABLE)
    coverage = Coverage(3, 30, 10**10, NOON, NOON, (missing,))
    of_view = selection, view, cpu, (cpu,), coverage
    row = FunctionRow("main", "app.py", 1, 2, 3)
    stats = ScanStats(total=2**62)
    stats.lack(cpu, [Metric("c", "d")], 3, NOON, NOON)
    spread = Spread(np.zeros(len(tree.id)), np.zeros(len(tree.id), np.int64))
    intervals = Intervals(*(np.full(len(tree.id), bound) for bound in (-1.0, 1.0, np.nan)))
    change = FunctionChange("f", "f.py", 1, 2, 3, 4, None, 0.5, 0.01, True)
    return (
        TreeResult(*of_view, tree, {0: (1, 2)}, (0, 1)),
        TopResult(*of_view, (row, row), 20),
        FocusResult(*of_view, row, tree, tree, Peek((Neighbour("a", "b", 1),))),
        CompareResult(
            *((selection, selection), view, cpu, (cpu,), (coverage, coverage), tree),
            *(intervals, Untested(UntestedReason.FEW_PROFILES, 1, 8)),
            *(TotalChange(2, 4, None, 0.5, 0.01, True), (change, change)),
        ),
        SeriesSums(tree, [stats], {1: TimeSpan(1, 2, 3)}),
        MeasuredSum(3, tree, spread, find_functions(tree), *[spread] * 3),
        [1, "a", None, 0.5, {"a": frozenset({1, 2})}, timedelta(1)],
    )
