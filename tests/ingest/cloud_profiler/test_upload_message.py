"""Cutting the profile out of a protobuf message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints.errors import BadRequest
from ingest.cloud_profiler import upload_message
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from tests.ingest.pprof import field

LABELS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)


@given(st.binary(max_size=400), st.text(max_size=20), LABELS, st.lists(st.text(), max_size=2))
def test_split_parts_equal_those_parsed_by_protobuf(
    body: bytes, name: str, labels: dict[str, str], paths: list[str]
) -> None:
    message = pb.UpdateProfileRequest(
        profile=pb.Profile(name=name, labels=labels, profile_bytes=body)
    )
    message.update_mask.paths.extend(paths)
    message.profile.duration.seconds = 10
    parts = upload_message.split(message.SerializeToString(), 1)
    assert parts.profile_bytes == body
    profile = pb.Profile.FromString(parts.profile)
    assert not profile.profile_bytes
    profile.profile_bytes = body
    assert profile == message.profile
    assert pb.UpdateProfileRequest.FromString(parts.rest).update_mask == message.update_mask


def test_repeated_fields_count_as_in_protobuf() -> None:
    first, second = pb.Profile(name="a", profile_bytes=b"1"), pb.Profile(profile_bytes=b"2")
    message = b"".join(field(1, part.SerializeToString()) for part in (first, second))
    parts = upload_message.split(message, 1)
    assert parts.profile_bytes == b"2"
    assert pb.Profile.FromString(parts.profile).name == "a"


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x0a",  # no length
        b"\x0a\x05abc",  # shorter than its length
        b"\x0b",  # a group, which proto3 does not have
        b"\x08" + b"\xff" * 10,  # a number without an end
        b"\x02\x01a",  # field number 0
        b"\x0d\x01\x02",  # half of four bytes
        b"\x0a\x02\x0b\x0c",  # damage inside of the profile
    ],
    ids=range(7),
)
def test_damaged_messages_are_rejected(damaged: bytes) -> None:
    with pytest.raises(BadRequest, match="not valid protobuf"):
        upload_message.split(damaged, 1)


def test_the_number_of_fields_is_bounded() -> None:
    with pytest.raises(BadRequest, match="1,000 fields"):
        upload_message.split(b"\x10\x00" * 1001, 1)
    with pytest.raises(BadRequest, match="1,000 fields"):
        upload_message.split(field(1, b"\x10\x00" * 1001), 1)
    empty_profile = field(1, field(5, b"") * 10)
    with pytest.raises(BadRequest, match="1,000 fields"):
        upload_message.split(empty_profile * 100, 1)


def test_size_is_limited_except_that_of_the_profile() -> None:
    large = b"x" * (upload_message.MAX_REST_BYTES + 1)
    assert upload_message.split(field(1, field(5, large)), 1).profile_bytes == large
    for message in (field(1, field(1, large)), field(2, large), field(9, large)):
        with pytest.raises(BadRequest, match="16,384 bytes"):
            upload_message.split(message, 1)
    half = b"x" * (upload_message.MAX_REST_BYTES // 2)
    with pytest.raises(BadRequest, match="16,384 bytes"):
        upload_message.split(field(1, field(1, half)) + field(2, half), 1)
