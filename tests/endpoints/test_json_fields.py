"""Protobuf's JSON mapping of fields, and errors that name the invalid field."""

import base64
import contextlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints import json_fields
from endpoints.errors import BadField
from projects.profile_types import WIRE_NUMBERS, ProfileType


@given(st.binary(), st.booleans(), st.booleans())
def test_bytes_come_in_either_alphabet_padded_or_not(
    data: bytes, url_safe: bool, padded: bool
) -> None:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    text = encode(data).decode()
    assert json_fields.octets({"a": text if padded else text.rstrip("=")}, "a", "a") == data


@pytest.mark.parametrize("text", ["?", "a", "ab=", "ab=c", "=", "====", "ab c", "€", "aaaaa"])
def test_other_text_is_not_base64(text: str) -> None:
    with pytest.raises(BadField, match="profileBytes: is not base64"):
        json_fields.octets({"a": text}, "a", "profileBytes")


@given(st.text())
def test_no_text_makes_base64_fail_in_another_way(text: str) -> None:
    with contextlib.suppress(BadField):
        json_fields.octets({"a": text}, "a", "a")


@given(st.integers(0, 10**9 - 1), st.integers(0, 10**9 - 1))
def test_durations_are_exact(seconds: int, nanoseconds: int) -> None:
    text = f"{seconds}.{nanoseconds:09d}s"
    assert json_fields.duration_ns({"d": text}, "d", "d") == seconds * 10**9 + nanoseconds


@pytest.mark.parametrize(
    "value", ["", "10", "-1s", "1e3s", "1.s", ".5s", "10s\n", 10, True, [], "٣s"]
)
def test_other_values_are_no_durations(value: object) -> None:
    with pytest.raises(BadField, match="not a duration"):
        json_fields.duration_ns({"d": value}, "d", "d")


@pytest.mark.parametrize(("number", "kind"), WIRE_NUMBERS.items())
def test_types_come_by_name_or_by_number(number: int, kind: ProfileType) -> None:
    assert (
        json_fields.profile_type(number, "t") is json_fields.profile_type(kind.value, "t") is kind
    )


@pytest.mark.parametrize("value", [0, 8, -1, True, "cpu", "", "PROFILE_TYPE_UNSPECIFIED", None, {}])
def test_other_values_are_no_types(value: object) -> None:
    with pytest.raises(BadField, match="not a profile type; allowed: CPU, WALL"):
        json_fields.profile_type(value, "profileType")


def test_fields_come_by_their_json_name_or_their_proto_name() -> None:
    assert json_fields.get({"profileType": 1}, "profileType") == 1
    assert json_fields.get({"profile_type": 1}, "profileType") == 1
    assert json_fields.get({"profileType": None}, "profileType") is None


def test_times_need_a_zone() -> None:
    assert json_fields.time_ns({"t": "1970-01-01T00:00:01.5Z"}, "t", "t") == 1_500_000_000
    assert json_fields.time_ns({"t": "1970-01-01T01:00:00+01:00"}, "t", "t") == 0
    with pytest.raises(BadField, match="no time zone"):
        json_fields.time_ns({"t": "1970-01-01T00:00:01"}, "t", "t")
    with pytest.raises(BadField, match="not an RFC 3339"):
        json_fields.time_ns({"t": "yesterday"}, "t", "startTime")


def test_a_time_outside_of_what_utc_can_say_is_rejected() -> None:
    for text in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"):
        with pytest.raises(BadField, match="is not an RFC 3339 time"):
            json_fields.time(text, "start")


@pytest.mark.parametrize(
    ("text", "expected"), [("0001-01-01T00:00:00Z", -(2**63)), ("9999-12-31T00:00:00Z", 2**63 - 1)]
)
def test_a_time_beyond_64_bits_is_the_outermost_one(text: str, expected: int) -> None:
    assert json_fields.time_ns({"t": text}, "t", "t") == expected


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_value_of_any_depth_is_no_type_and_no_duration(opening: bytes) -> None:
    depth = 1000  # orjson reads 1,024
    closing = b"]" if opening == b"[" else b"}"
    value = orjson.loads(opening * depth + b"1" + closing * depth)
    with pytest.raises(BadField, match="not a profile type"):
        json_fields.profile_type(value, "profileType")
    with pytest.raises(BadField, match="not a duration"):
        json_fields.duration_ns({"d": value}, "d", "d")
