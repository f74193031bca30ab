"""Detection of the wire revision, by messages that are written field by field."""

import struct
from collections.abc import Sequence

import pytest

from ingest.formats.otlp.revision import Revision
from profiles.engine.errors import BadProfile
from tests.ingest.formats.otlp.conversions import Converted, convert
from tests.ingest.pprof import field, varint

UP_TO_1_7, UP_TO_1_9, SINCE_1_10 = Revision
STRINGS = ["", "samples", "count", "main", "thread.name", "a", "b", "c", "service.name", "shop"]
TIME = varint(3 << 3 | 1) + struct.pack("<Q", 1_790_000_000 * 10**9)
DURATION = field(4, 10**10)


def dictionary(attributes: int = 4, links: int = 1, text_keys: bool = False) -> bytes:
    """Return the tables: one function, two locations, two stacks."""
    key = field(1, b"thread.name") if text_keys else field(1, 4)
    body = field(1, b"") + field(2, b"") + field(2, field(3, field(1, 1)))
    body += field(3, b"") + field(3, field(1, 3))
    body += b"".join(field(4, b"") for _ in range(links))
    body += b"".join(field(5, text.encode()) for text in STRINGS)
    body += field(6, b"") + field(6, key + field(2, field(1, b"x"))) * (attributes - 1)
    return body + field(7, b"") + field(7, field(1, varint(1)))


def timestamps(count: int) -> bytes:
    return struct.pack(f"<{count}Q", *range(count))


def message(
    samples: Sequence[bytes], profile: bytes = TIME + DURATION, tables: bytes = b""
) -> bytes:
    kind = field(1, field(1, 1) + field(2, 2))
    body = kind + profile + b"".join(field(2, sample) for sample in samples)
    resource = field(1, field(1, field(1, b"service.name") + field(2, field(1, b"shop"))))
    return field(1, resource + field(2, field(2, body))) + field(2, tables or dictionary())


def converted(
    samples: Sequence[bytes], profile: bytes = TIME + DURATION, tables: bytes = b""
) -> Converted:
    return convert(message(samples, profile, tables))


def test_unpacked_values_in_field_4_are_detected_as_1_10() -> None:
    found = converted([field(1, 1) + field(4, 7), field(1, 1) + field(2, 1) + field(4, 3)])
    assert found.request.revision is SINCE_1_10
    assert found.profiles[0].totals == {"samples/count": 10}
    assert found.profiles[0].labels == [{"thread.name": "x"}]


def test_unpacked_values_in_field_2_are_detected_as_1_9() -> None:
    found = converted([field(1, 1) + field(2, 7), field(1, 1) + field(2, 3) + field(3, 1)])
    assert found.request.revision is UP_TO_1_9
    assert found.profiles[0].totals == {"samples/count": 10}
    assert found.profiles[0].labels == [{"thread.name": "x"}]


@pytest.mark.parametrize(("link", "revision", "total"), [(1, UP_TO_1_9, 900), (5, SINCE_1_10, 5)])
def test_ambiguous_unpacked_numbers_are_detected_by_the_size_of_the_tables(
    link: int, revision: Revision, total: int
) -> None:
    # Values and a link in 1.9, an attribute and values in 1.10.
    second = 900 if revision is UP_TO_1_9 else 1
    tables = dictionary(links=2)
    found = converted([field(1, 1) + field(2, second) + field(4, link)], tables=tables)
    assert found.request.revision is revision
    assert found.profiles[0].totals == {"samples/count": total}


def test_as_many_values_as_timestamps_are_detected_as_1_9() -> None:
    sample = field(1, 1) + field(2, varint(1) * 3) + field(5, timestamps(3))
    found = converted([sample])
    assert found.request.revision is UP_TO_1_9
    assert found.profiles[0].totals == {"samples/count": 3}


def test_attributes_beside_varying_timestamps_are_detected_as_1_10() -> None:
    samples = [
        field(1, 1) + field(2, varint(1)) + field(5, timestamps(1)),
        field(1, 1) + field(2, varint(1)) + field(5, timestamps(4)),
    ]
    found = converted(samples)
    assert found.request.revision is SINCE_1_10
    assert found.profiles[0].totals == {"samples/count": 5}


def test_values_beyond_the_attribute_table_are_detected_as_1_9() -> None:
    sample = field(1, 1) + field(2, varint(500)) + field(5, timestamps(2))
    assert converted([sample]).request.revision is UP_TO_1_9


def test_field_of_the_link_beside_timestamps_decides_the_revision() -> None:
    of_1_10 = field(1, 1) + field(3, 1) + field(5, timestamps(2))
    assert converted([of_1_10], tables=dictionary(1, 2)).request.revision is SINCE_1_10
    of_1_9 = field(1, 1) + field(4, 1) + field(5, timestamps(2))
    found = converted([of_1_9], tables=dictionary(1, 2))
    assert found.request.revision is UP_TO_1_9
    assert found.profiles[0].totals == {"samples/count": 2}


def test_unpacked_values_with_text_keys_are_detected_as_1_7() -> None:
    profile = field(3, varint(1)) + field(4, 1_790_000_000 * 10**9) + field(5, 10**10)
    sample = field(1, 0) + field(2, 1) + field(3, 7) + field(4, 1)
    found = converted([sample], profile, dictionary(text_keys=True))
    assert found.request.revision is UP_TO_1_7
    assert found.profiles[0].totals == {"samples/count": 7}
    assert found.profiles[0].labels == [{"thread.name": "x"}]
    assert found.profiles[0].stacks == {"main": 7}


def test_unpacked_locations_in_the_profile_are_detected_as_1_7() -> None:
    profile = field(3, 1) + field(3, 1) + field(5, 10**10) + field(6, field(1, 1))
    sample = field(1, 0) + field(2, 2) + field(3, 7)
    found = converted([sample], profile, dictionary(text_keys=True))
    assert found.request.revision is UP_TO_1_7
    assert found.profiles[0].stacks == {"main;main": 7}


def test_one_value_and_many_timestamps_of_1_7_count_the_timestamps() -> None:
    profile = field(3, varint(1)) + field(5, 10**10)
    sample = field(2, 1) + field(3, varint(1)) + field(6, varint(200) * 4)
    found = converted([sample], profile, dictionary(text_keys=True))
    assert found.profiles[0].totals == {"samples/count": 4}


def test_tables_in_profiles_are_rejected_by_version() -> None:
    profile = field(3, field(1, 1)) + field(4, field(1, 1)) + field(5, field(1, 1))
    with pytest.raises(BadProfile, match=r"OTLP 1\.5 or older"):
        converted([field(1, 1) + field(3, 7)], profile)
