"""Bounds on the strings and on the memory of one decode, for hostile profiles."""

import tracemalloc
from collections.abc import Callable

import pytest

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import DecodedProfile, DecodeLimits, decode_profile
from profiles.engine.pprof.limits import MAX_NAME_BYTES, MAX_SAMPLE_TYPES
from tests.attacks.attackers import hostile_profiles as hostile
from tests.attacks.attackers.hostile_profiles import MIB, assembled, sample
from tests.ingest.pprof import field

LIMITS = DecodeLimits()
# Peak memory of one decode: this multiple of the raw bytes, plus an allowance for any profile.
DECODE_MULTIPLE, DECODE_FREE = 64, 24 * MIB


def read(raw: bytes) -> DecodedProfile:
    return decode_profile(raw, "CPU", LIMITS)


def function(name: bytes) -> bytes:
    """Return a profile with one stack of one function with this name."""
    return functions(name)


def functions(*names: bytes) -> bytes:
    """Return a profile with one stack per name, each of a single function."""
    numbers = range(1, len(names) + 1)
    return assembled(
        names,
        functions=[field(1, i) + field(2, 2 + i) for i in numbers],
        locations=[field(1, i) + field(4, field(1, i)) for i in numbers],
        samples=[sample([i]) for i in numbers],
    )


def names(decoded: DecodedProfile) -> list[str]:
    frames = decoded.tree.frames
    return [frames.strings[i] for i in frames.name.tolist()]


def test_a_name_of_the_greatest_length_stays_as_it_is() -> None:
    assert names(read(function(b"f" * MAX_NAME_BYTES))) == ["f" * MAX_NAME_BYTES]


@pytest.mark.parametrize("letter", ["f", "é", "𝛼", "\0"])
def test_a_longer_name_is_cut_at_a_character_and_marked(letter: str) -> None:
    (name,) = names(read(function(letter.encode() * 5000)))
    assert MAX_NAME_BYTES - 4 < len(name.encode()) <= MAX_NAME_BYTES
    prefix, _, mark = name.rpartition("…")
    assert set(prefix) == {letter.replace("\0", "\ufffd")}
    assert len(bytes.fromhex(mark)) == 8


def test_long_names_that_differ_at_their_end_stay_different() -> None:
    first, second = names(read(functions(b"f" * 9000 + b"a", b"f" * 9000 + b"b")))
    assert first != second
    assert names(read(function(b"f" * 9000 + b"a"))) == [first]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"main\0work", "main\ufffdwork"),
        (b"12345678\0", "12345678\ufffd"),
        (b"\0", "\ufffd"),
        (b"1234567\0" * 3, "1234567\ufffd" * 3),
        (b"lone \xed\xa0\x80", "lone \ufffd\ufffd\ufffd"),
        (b"caf\xe9", "caf\ufffd"),
        ("café".encode(), "café"),
        (b"\x01\x7f", "\x01\x7f"),
        (b"\x01", "\ufffd"),  # its id is that of the empty string
    ],
)
def test_unusable_characters_are_replaced(name: bytes, expected: str) -> None:
    assert names(read(function(name))) == [expected]


@pytest.mark.parametrize("name", [b"cpu\0", b"\xff", b"c" * 257, b"c" * 5000])
def test_a_sample_type_of_an_unusable_name_or_unit_is_rejected(name: bytes) -> None:
    for types in ([(3, 2)], [(1, 3)]):
        with pytest.raises(BadProfile, match="of a sample type"):
            read(assembled([name], sample_types=types))


def test_too_many_sample_types_are_rejected() -> None:
    strings = [b"type%d" % i for i in range(MAX_SAMPLE_TYPES + 1)]
    types = [(3 + i, 2) for i in range(len(strings))]
    assert len(read(assembled(strings, sample_types=types[:-1])).totals) == MAX_SAMPLE_TYPES
    with pytest.raises(BadProfile, match="65 sample types; the limit is 64"):
        read(assembled(strings, sample_types=types))


def test_strings_have_a_limit_in_sum() -> None:
    raw = hostile.one_name_of_many_locations(8, 100)
    decode_profile(raw, "CPU", DecodeLimits(max_string_bytes=2000))
    with pytest.raises(TooLarge) as caught:
        decode_profile(raw, "CPU", DecodeLimits(max_string_bytes=1000))
    assert caught.value.limit == "FLAMEWATCH_MAX_STRING_BYTES"


def test_error_names_the_expansion_limit_and_the_raw_bytes() -> None:
    raw = hostile.nodes_of_inlined_lines(5000, 500)
    words = (
        f"FLAMEWATCH_MAX_EXPANSION allows .* nodes of the call tree of a profile of {len(raw):,}"
    )
    with pytest.raises(TooLarge, match=words):
        read(raw)


def test_a_binary_of_many_locations_is_named_by_its_file() -> None:
    decoded = names(read(hostile.one_name_of_many_locations(8 * MIB, 3)))
    assert decoded == [f"{'a' * 255}+0x{0x1000 + i:x}" for i in (1, 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: hostile.one_name_of_many_locations(8 * MIB, 200),
        lambda: hostile.one_name_of_many_locations(4096, 20_000),
        lambda: hostile.nodes_of_inlined_lines(9000, 1000),
        lambda: hostile.deep_stacks(2000, 500),
        lambda: hostile.one_label_value_of_many_labels(4096, 20_000),
        lambda: hostile.one_label_value_of_many_labels(5, 100_000),
        lambda: hostile.bad_strings(300_000),
        lambda: hostile.empty_samples(500_000),
        lambda: hostile.comments(8 * MIB, 64),
        lambda: hostile.symbols(200_000),
    ],
    ids=[
        "a file name of 8 MiB",
        "a file name of 4 KiB and many locations",
        "inlined lines",
        "deep stacks",
        "a label value of 4 KiB in many labels",
        "labels",
        "strings that are not UTF-8",
        "samples without stacks",
        "comments of 8 MiB",
        "functions and locations",
    ],
)
def test_the_memory_of_a_decode_is_a_bounded_multiple_of_the_raw_bytes(
    make: Callable[[], bytes],
) -> None:
    raw = make()
    peak, outcome = peak_of(raw)
    print(f"{len(raw):,} raw bytes: {peak:,} bytes, {peak / len(raw):.1f} x; {outcome}")
    assert peak < DECODE_MULTIPLE * len(raw) + DECODE_FREE


def peak_of(raw: bytes) -> tuple[int, str]:
    """Return the peak bytes allocated by Python and NumPy, and the outcome."""
    tracemalloc.start()
    try:
        encode_columns(read(raw).columns)
        return tracemalloc.get_traced_memory()[1], "decoded"
    except (TooLarge, BadProfile) as error:
        return tracemalloc.get_traced_memory()[1], str(error)
    finally:
        tracemalloc.stop()
