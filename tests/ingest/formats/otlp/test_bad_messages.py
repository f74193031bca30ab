"""Bad messages: good samples are stored, bad ones are reported, and sizes are limited."""

import pytest

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import DecodeLimits
from tests.ingest.formats.otlp.conversions import convert, sample
from tests.ingest.formats.otlp.test_revision import TIME, converted, dictionary, message
from tests.ingest.pprof import field, varint

GOOD = field(1, 1) + field(4, varint(7))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (field(1, 9) + field(4, varint(1)), "Stack index 9 is out of range: the table has 2"),
        (field(1, -1 % 2**64) + field(4, varint(1)), "Stack index 18446744073709551615"),
        (GOOD + field(2, varint(9)), "Attribute index 9 is out of range: the table has 4"),
        (GOOD + field(3, 9), "Link index 9 is out of range: the table has 1"),
        (field(1, 1), "A sample has neither values nor timestamps."),
        (
            field(1, 1) + field(4, varint(2**63 - 1) + varint(1)),
            "A value does not fit into 64 bits.",
        ),
    ],
    ids=["stack", "negative", "attribute", "link", "nothing", "overflow"],
)
def test_a_bad_sample_is_left_out(bad: bytes, reason: str) -> None:
    (profile,) = converted([GOOD, bad]).profiles
    assert profile.totals == {"samples/count": 7}
    (warning,) = profile.imported.warnings
    assert warning.startswith(f"1 sample was left out: {reason}")


def test_a_profile_of_bad_samples_is_rejected() -> None:
    with pytest.raises(BadProfile, match="1 sample was left out: Stack index 9"):
        converted([field(1, 9) + field(4, varint(1))])


def test_a_bad_location_is_named() -> None:
    tables = dictionary() + field(7, field(1, varint(8)))
    bad = field(1, 2) + field(4, varint(1))
    (profile,) = converted([GOOD, bad], tables=tables).profiles
    assert "Location index 8 is out of range: the table has 2" in profile.imported.warnings[0]


def test_a_bad_sample_type_rejects_its_profile_only() -> None:
    bad = field(2, field(2, field(1, field(1, 99)) + TIME + field(2, GOOD)))
    found = convert(message([GOOD]) + field(1, bad))
    assert [profile.totals for profile in found.profiles] == [{"samples/count": 7}]
    (rejection,) = found.rejections
    assert "String index 99 is out of range" in rejection.reason


def test_a_bad_resource_rejects_its_profiles_only() -> None:
    resource = field(1, field(1, field(3, 99)))
    profile = field(1, field(1, 1) + field(2, 2)) + TIME + field(2, GOOD)
    found = convert(message([GOOD]) + field(1, resource + field(2, field(2, profile) * 2)))
    assert len(found.profiles) == 1
    assert [rejection.reason[:15] for rejection in found.rejections] == ["String index 99"] * 2


def test_profile_without_samples_is_neither_stored_nor_rejected() -> None:
    found = converted([])
    assert (found.profiles, found.rejections) == ([], [])


@pytest.mark.parametrize("cut", [1, 5, 40, 200])
def test_truncated_messages_are_rejected(cut: int) -> None:
    with pytest.raises(BadProfile):
        convert(sample("1.10-values.pb")[:-cut])


def test_other_bytes_are_rejected() -> None:
    with pytest.raises(BadProfile, match="Not a message of OTLP profiles: no valid field"):
        convert(b"\x00\x01\x02")


def test_a_packed_field_that_ends_within_a_number_is_rejected() -> None:
    with pytest.raises(BadProfile, match="The packed field 4 at byte"):
        converted([field(1, 1) + field(4, b"\x80")])


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (DecodeLimits(max_samples=1), "FLAMEWATCH_MAX_SAMPLES"),
        (DecodeLimits(max_symbols=3), "FLAMEWATCH_MAX_SYMBOLS"),
    ],
    ids=["samples", "symbols"],
)
def test_limits_are_named(limits: DecodeLimits, name: str) -> None:
    with pytest.raises(TooLarge, match=name):
        convert(message([GOOD, GOOD]), limits)


def test_a_deep_stack_is_too_large() -> None:
    tables = dictionary() + field(7, field(1, varint(1) * 11))
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_DEPTH allows 10"):
        convert(
            message([field(1, 2) + field(4, varint(1))], tables=tables), DecodeLimits(max_depth=10)
        )


def test_many_small_profiles_with_one_large_stack_are_too_large() -> None:
    """Each stored profile gets a copy of its stacks: 9,000 bytes become 20 MB."""
    tables = dictionary() + field(7, field(1, varint(1) * 9_000))
    kind = field(1, field(1, 1) + field(2, 2))
    sent = field(2, tables)
    for number in range(150):
        pod = field(1, field(1, b"pod") + field(2, field(1, b"%d" % number)))
        body = kind + TIME + field(2, field(1, 2) + field(4, varint(1)))
        sent += field(1, field(1, pod) + field(2, field(2, body)))
    assert len(sent) < 25_000
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_EXPANSION"):
        convert(sent)


def test_deeply_nested_attribute_values_are_cut() -> None:
    value = field(1, b"deep")
    for _ in range(50):
        value = field(5, field(1, value))
    tables = dictionary(1) + field(6, field(1, 4) + field(2, value))
    (profile,) = converted([GOOD + field(2, varint(1))], tables=tables).profiles
    assert profile.labels == [{"thread.name": "…"}]
