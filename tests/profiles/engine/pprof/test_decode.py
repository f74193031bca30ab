"""Decoding of profiles with real-world defects, and its limits."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from profiles.engine.calltree.tree import Label
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import (
    LONGEST_COMMENT,
    MOST_COMMENTS,
    DecodedProfile,
    DecodeLimits,
    decode_profile,
)
from tests.profiles.engine.pprof.oracle import Path, meaning_of
from tests.profiles.pprofs import EXAMPLE, PprofBuilder, pprof

LIMITS = DecodeLimits()


def read(raw: bytes, profile_type: str = "CPU", **limits: Any) -> DecodedProfile:
    return decode_profile(raw, profile_type, DecodeLimits(**limits))


def own(digested: DecodedProfile) -> dict[str, int]:
    """Return self values of the first metric by the names of the stack."""
    meaning = meaning_of(digested.tree, digested.totals, digested.samples)
    return {_names(path): row[0] for path, row in meaning.own.items()}


def _names(path: Path) -> str:
    return ";".join(name for name, _, _ in path)


def built(change: Callable[[PprofBuilder], None]) -> bytes:
    """Build a profile with a sample type and this change."""
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("nanoseconds"))
    change(builder)
    return bytes(builder.message.SerializeToString())


def test_documented_example_is_decoded_exactly() -> None:
    digested = read(pprof(EXAMPLE))
    assert own(digested)["main;foo1;bar"] == 2_500_000
    assert own(digested)["main"] == 2_000_000
    assert digested.tree.metrics == (Metric("cpu", "nanoseconds"),)
    assert digested.weight == 9_000_000
    assert digested.samples == 5


def test_equal_stacks_are_added_up() -> None:
    def twice(b: PprofBuilder) -> None:
        for value in (3, 4):
            b.message.sample.add(location_id=[b.frame("work"), b.frame("main")], value=[value])

    assert own(read(built(twice))) == {"main;work": 7}


def test_inlined_functions_come_innermost_first() -> None:
    def inlined(b: PprofBuilder) -> None:
        location = b.frame("inner")
        b.frame("outer")
        b.message.location[0].line.add(function_id=2, line=9)
        b.message.sample.add(location_id=[location], value=[1])

    assert own(read(built(inlined))) == {"outer;inner": 1}


def test_a_sample_without_a_stack_keeps_its_value() -> None:
    assert own(read(pprof({"": 5, "main": 1}))) == {"?": 5000, "main": 1000}


def test_locations_without_names_are_named_by_binary_and_offset() -> None:
    def unsymbolised(b: PprofBuilder) -> None:
        b.message.mapping.add(
            id=2**63 + 5,
            memory_start=0x400000,
            file_offset=0x1000,
            filename=b.string("/usr/bin/app"),
            build_id=b.string("abc123"),
        )
        b.message.location.add(id=0xFFFF_FFFF_8000_0000, mapping_id=2**63 + 5, address=0x400010)
        b.message.location.add(id=3, address=0x77)
        b.message.location.add(id=4)
        b.message.sample.add(location_id=[0xFFFF_FFFF_8000_0000, 3, 4], value=[1])

    digested = read(built(unsymbolised))
    assert own(digested) == {"?;0x77;app+0x1010": 1}
    frames = digested.tree.frames
    mappings = {frames.strings[frames.name[i]]: frames.strings[frames.mapping[i]] for i in range(3)}
    assert mappings == {"app+0x1010": "abc123\t/usr/bin/app", "0x77": "", "?": ""}
    files = {frames.strings[frames.name[i]]: frames.strings[frames.file[i]] for i in range(3)}
    assert files == {"app+0x1010": "[build-id abc123]", "0x77": "", "?": ""}


def test_invalid_utf_8_is_replaced_and_generic_names_are_unchanged() -> None:
    def odd(b: PprofBuilder) -> None:
        location = b.frame("main.Map[go.shape.int]")
        b.message.string_table.append(b"caf\xe9")
        b.message.function.add(id=77, name=len(b.message.string_table) - 1)
        b.message.location.add(id=77).line.add(function_id=77)
        b.message.sample.add(location_id=[77, location], value=[1])

    assert own(read(built(odd))) == {"main.Map[go.shape.int];caf�": 1}


def test_labels_of_samples_are_stored_with_their_units() -> None:
    def labelled(b: PprofBuilder) -> None:
        sample = b.message.sample.add(location_id=[b.frame("main")], value=[3])
        sample.label.add(key=b.string("thread"), str=b.string("worker"))
        sample.label.add(key=b.string("size"), num=-5, num_unit=b.string("bytes"))
        b.message.sample.add(location_id=[b.frame("main")], value=[4])

    tree = read(built(labelled)).tree
    assert tree.labelled is not None
    assert tree.labelled.label_sets == ((Label("size", "-5", "bytes"), Label("thread", "worker")),)
    assert tree.labelled.values.tolist() == [[3]]
    assert tree.self[0].sum() == 7


def each_labelled(b: PprofBuilder) -> None:
    """Add 100,000 samples with distinct labels: a unique `request`, and two values of `part`."""
    main, request, part = b.frame("main"), b.string("request"), b.string("part")
    for number in range(100_000):
        sample = b.message.sample.add(location_id=[main], value=[1])
        sample.label.add(key=request, str=b.string(f"r{number}"))
        sample.label.add(key=part, num=number % 2 + 1)
        sample.label.add(key=part, num=2)


@pytest.mark.slow
def test_hundred_thousand_samples_with_distinct_labels_are_decoded() -> None:
    tree = read(built(each_labelled)).tree
    assert tree.labelled is not None
    assert tree.labelled.label_sets == tuple(
        (Label("part", str(n % 2 + 1), ""), Label("part", "2", ""), Label("request", f"r{n}"))
        for n in range(100_000)
    )
    assert tree.labelled.label_set.tolist() == list(range(100_000))


def test_labels_of_samples_have_a_limit_and_those_of_equal_samples_count_once() -> None:
    def labelled(b: PprofBuilder) -> None:
        for value in ("a", "a", "b"):
            sample = b.message.sample.add(location_id=[b.frame("main")], value=[1])
            sample.label.add(key=b.string("thread"), str=b.string(value))
            sample.label.add(key=b.string("thread"), str=b.string("worker"))

    assert read(built(labelled), max_sample_labels=4).samples == 3
    with pytest.raises(TooLarge) as caught:
        read(built(labelled), max_sample_labels=3)
    assert (caught.value.limit, caught.value.value) == ("FLAMEWATCH_MAX_SAMPLE_LABELS", 4)


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        (1_700_000_000_123_456_789, 1_700_000_000_123_456_789),
        (1_700_000_000_123_456, 1_700_000_000_123_456_000),
        (1_700_000_000_123, 1_700_000_000_123_000_000),
        (1_700_000_000, 1_700_000_000_000_000_000),
        (0, 0),
        (-5, 0),
        # Beyond 64 bits in nanoseconds: unknown.
        (10**17 - 1, 0),
        (10**14 - 1, 0),
        (10**11 - 1, 0),
    ],
)
def test_times_in_any_unit_are_converted_to_nanoseconds(met: int, expected: int) -> None:
    assert read(pprof(EXAMPLE, time_nanos=met)).time_ns == expected


@pytest.mark.parametrize(
    ("profile_type", "met", "expected", "factor"),
    [
        ("WALL", ("wall", "microseconds"), ("wall", "nanoseconds"), 1000),
        ("WALL", ("time", "ms"), ("wall", "nanoseconds"), 10**6),
        ("CPU", ("cpu", "seconds"), ("cpu", "nanoseconds"), 10**9),
        ("HEAP", ("space", "kB"), ("inuse_space", "bytes"), 1024),
        ("HEAP_ALLOC", ("objects", "count"), ("alloc_objects", "count"), 1),
        ("CPU", ("apples", "baskets"), ("apples", "baskets"), 1),
    ],
)
def test_names_and_units_are_normalised(
    profile_type: str, met: tuple[str, str], expected: tuple[str, str], factor: int
) -> None:
    digested = read(pprof({"main": 7}, sample_types=[met]), profile_type)
    assert digested.tree.metrics == (Metric(*expected),)
    assert digested.totals == (7 * factor,)


def test_default_metric_is_that_of_the_type_else_the_named_else_the_last() -> None:
    three = [("a", "count"), ("b", "count"), ("cpu", "nanoseconds")]
    assert read(pprof({"main": [1, 2, 3]}, sample_types=three)).weight == 3
    assert read(pprof({"main": [1, 2, 3]}, sample_types=three), "HEAP").weight == 3
    named = PprofBuilder()
    for name in ("a", "b", "c"):
        named.message.sample_type.add(type=named.string(name), unit=named.string("count"))
    named.message.default_sample_type = named.string("b")
    named.message.sample.add(location_id=[named.frame("main")], value=[1, 2, 3])
    assert read(named.message.SerializeToString()).weight == 2


def test_a_heap_s_empty_allocation_columns_are_left_out() -> None:
    kinds = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "bytes")]
    raw = pprof({"main": [0, 0, 5]}, sample_types=kinds)
    assert read(raw, "HEAP").tree.metrics == (Metric("inuse_space", "bytes"),)
    assert len(read(raw, "HEAP_ALLOC").tree.metrics) == 3


def test_columns_omit_metrics_left_out_and_samples_that_cancel() -> None:
    """Check that stacks have no entry for an omitted column, or where samples cancel out."""
    kinds = [("alloc_space", "bytes"), ("inuse_space", "bytes")]
    raw = pprof({"a": [5, 0], "b": [-5, 0], "c;a": [0, 2], "c": [0, 1]}, sample_types=kinds)
    columns = read(raw, "HEAP", negative=True).columns
    assert columns.metrics == (Metric("inuse_space", "bytes"),)
    assert len(columns.parent) == 4
    assert columns.node.tolist() == sorted(columns.node.tolist())
    assert sorted(columns.values.tolist()[0]) == [1, 2]

    def cancelled(b: PprofBuilder) -> None:
        for value in (3, -3):
            b.message.sample.add(location_id=[b.frame("main")], value=[value])

    assert read(built(cancelled), negative=True).columns.node.tolist() == []


def test_profile_without_samples_is_accepted() -> None:
    digested = read(pprof({}))
    assert (digested.samples, digested.totals, len(digested.tree.id)) == (0, (0,), 0)


def test_stack_over_10000_frames_is_rejected() -> None:
    names = [f"f{i}" for i in range(10_001)]
    assert len(read(pprof({";".join(names[:-1]): 1})).tree.id) == 10_000
    with pytest.raises(TooLarge) as caught:
        read(pprof({";".join(names): 1}))
    assert caught.value.limit == "FLAMEWATCH_MAX_DEPTH"


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"max_samples": 4}, "FLAMEWATCH_MAX_SAMPLES"),
        ({"max_nodes": 4}, "FLAMEWATCH_MAX_NODES"),
        ({"max_symbols": 3}, "FLAMEWATCH_MAX_SYMBOLS"),
        ({"max_depth": 2}, "FLAMEWATCH_MAX_DEPTH"),
        ({"max_stack_frames": 10}, "FLAMEWATCH_MAX_STACK_FRAMES"),
    ],
)
def test_each_limit_is_named(limits: dict[str, Any], name: str) -> None:
    with pytest.raises(TooLarge) as caught:
        read(pprof(EXAMPLE), **limits)
    assert (caught.value.limit, caught.value.allowed) == (name, *limits.values())


def test_many_lines_in_one_location_cannot_make_a_deep_stack() -> None:
    def amplified(b: PprofBuilder) -> None:
        location = b.frame("main")
        for _ in range(10_000):
            b.message.location[0].line.add(function_id=1, line=1)
        b.message.sample.add(location_id=[location], value=[1])

    with pytest.raises(TooLarge, match="MAX_DEPTH"):
        read(built(amplified))


def test_functions_that_all_have_the_id_0_are_those_of_the_locations() -> None:
    def without_ids(b: PprofBuilder) -> None:
        stack = [b.frame("System.Threading!Wait"), b.frame("Shop!Checkout.Pay")]
        b.message.sample.add(location_id=stack, value=[3])
        for function in b.message.function:
            function.id = 0

    found = read(built(without_ids))
    names = {found.tree.frames.strings[number] for number in found.tree.frames.name.tolist()}
    assert names == {"System.Threading!Wait", "Shop!Checkout.Pay"}
    assert "Every function has the id 0" in found.warnings[0]


def test_ids_of_traces_are_no_sample_labels() -> None:
    """Check that samples of one stack and endpoint are summed, whatever their spans."""

    def of_spans(b: PprofBuilder) -> None:
        stack = [b.frame("main")]
        for number in range(20):
            sample = b.message.sample.add(location_id=stack, value=[1])
            for key, value in (
                ("profile_id", f"{number:016x}"),
                ("trace_id", f"{number:032X}"),
                ("endpoint", "/pay"),
            ):
                sample.label.add(key=b.string(key), str=b.string(value))
        user = b.message.sample.add(location_id=stack, value=[5])
        user.label.add(key=b.string("profile_id"), str=b.string("premium"))

    found = read(built(of_spans))
    assert found.tree.labelled is not None
    assert [
        [(label.key, label.value) for label in each] for each in found.tree.labelled.label_sets
    ] == [
        [("endpoint", "/pay")],
        [("profile_id", "premium")],
    ]
    assert found.tree.labelled.values.tolist() == [[20, 5]]
    assert found.warnings == (
        "Sample labels with ids of traces, spans or profiles were left out: 40. Each value would "
        "have samples of its own.",
    )


@pytest.mark.parametrize("extra", [0, 5])
def test_a_single_function_with_the_id_0_is_rejected(extra: int) -> None:
    def one_without_id(b: PprofBuilder) -> None:
        stack = [b.frame("work"), b.frame("main")]
        b.message.sample.add(location_id=stack, value=[3])
        b.message.function[0].id = 0
        if extra:  # none has an id, but there are more functions than locations
            b.message.function[1].id = 0
            b.message.function.add()

    with pytest.raises(BadProfile, match="A function has the id 0"):
        read(built(one_without_id))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda b: b.message.sample.add(location_id=[9], value=[1]), "No location has the id 9"),
        (
            lambda b: b.message.sample.add(location_id=[0], value=[1]),
            "has the location id 0",
        ),
        (
            lambda b: b.message.location.add(id=1).line.add(function_id=5),
            "No function has the id 5",
        ),
        (lambda b: b.message.location.add(id=1, mapping_id=6), "No mapping has the id 6"),
        (lambda b: b.message.function.add(id=1, name=99), "String index 99"),
        (lambda b: b.message.function.add(id=1, filename=-1), "String index 18446744073709551615"),
        (lambda b: b.message.mapping.add(id=1, build_id=99), "String index 99"),
        (lambda b: b.message.function.extend([_function(1), _function(1)]), "Two functions"),
        (lambda b: b.message.location.add(), "has the id 0"),
        (lambda b: b.message.sample.add(value=[]), "Sample 0 has 0 values"),
        (lambda b: b.message.sample.add(value=[1, 2]), "Sample 0 has more values"),
        (lambda b: b.message.sample.add(value=[-1]), "has -1. It is a difference"),
        (lambda b: b.message.sample_type.add(), "Duplicate sample type|sample types"),
    ],
)
def test_inconsistent_messages_are_rejected_with_the_reason(
    change: Callable[[PprofBuilder], None], reason: str
) -> None:
    def used(builder: PprofBuilder) -> None:
        change(builder)
        if not builder.message.sample:
            values = [1] * len(builder.message.sample_type)
            builder.message.sample.add(value=values[:1])

    with pytest.raises(BadProfile, match=reason):
        read(built(used))


def _function(number: int) -> Any:
    builder = PprofBuilder()
    return builder.message.function.add(id=number)


@pytest.mark.parametrize("raw", [b"", b"\0", b"not a profile", gzip.compress(b"x"), b"\x0a\x7f"])
def test_other_bytes_are_rejected(raw: bytes) -> None:
    with pytest.raises(BadProfile):
        read(raw)


def test_sums_beyond_64_bits_are_rejected() -> None:
    most = 2**63 - 1
    kinds = [("cpu", "nanoseconds")]
    assert read(pprof({"main": most}, sample_types=kinds), max_total=most).weight == most
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_TOTAL"):
        read(pprof({"main": most, "other": 1}, sample_types=kinds), max_total=most)
    with pytest.raises(BadProfile, match="64 bits"):
        read(pprof({"main": most // 1000 + 1}))


@pytest.mark.parametrize("stacks", [{"main": 2**56 + 1}, {"main": 2**56, "other": 1}])
def test_sum_of_a_profile_over_the_limit_is_rejected(stacks: dict[str, int]) -> None:
    kinds = [("cpu", "nanoseconds")]
    assert read(pprof({"main": 2**56}, sample_types=kinds)).weight == 2**56
    with pytest.raises(TooLarge) as caught:
        read(pprof(stacks, sample_types=kinds))
    assert caught.value.limit == "FLAMEWATCH_MAX_TOTAL"
    assert (caught.value.value, caught.value.allowed) == (2**56 + 1, 2**56)


def test_differences_are_read_where_they_are_allowed() -> None:
    assert own(read(pprof({"main": -5, "other": 7}), negative=True)) == {
        "main": -5000,
        "other": 7000,
    }


@pytest.mark.parametrize("packed", [True, False])
def test_comments_are_read_packed_or_one_by_one(packed: bool) -> None:
    builder = PprofBuilder()
    first, second = builder.string("flamewatch.samples=3"), builder.string("x" * 1000)
    raw = built_of(builder)
    raw += bytes([13 << 3 | 2, 2, first, second]) if packed else bytes([104, first, 104, second])
    assert read(raw).comments == ("flamewatch.samples=3", "x" * LONGEST_COMMENT)


def test_comments_over_the_limit_are_cut() -> None:
    builder = PprofBuilder()
    number = builder.string("again")
    raw = built_of(builder) + bytes([104, number]) * 10_000
    assert read(raw).comments == ("again",) * MOST_COMMENTS


def test_a_comment_that_is_no_string_is_rejected() -> None:
    with pytest.raises(BadProfile, match="String index 99"):
        read(built_of(PprofBuilder()) + bytes([104, 99]))


def built_of(builder: PprofBuilder) -> bytes:
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("nanoseconds"))
    return bytes(builder.message.SerializeToString())
