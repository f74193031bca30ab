"""JSON messages: fields in protobuf's mapping, and uploads with a profile of any size."""

import base64
import contextlib
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints import json_message
from endpoints.errors import BadField, BadRequest
from endpoints.json_message import MAX_REST_BYTES, parse_upload
from ingest.cloud_profiler import wire
from projects.profile_types import WIRE_NUMBERS, ProfileType

LARGE = b"QUFB" * 100_000
MESSAGES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-100, 100)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["profileBytes", "profile_bytes", "labels"]), inner)
    ),
)


@given(st.binary(), st.booleans(), st.booleans())
def test_base64_is_read_in_either_alphabet_with_or_without_padding(
    data: bytes, url_safe: bool, padded: bool
) -> None:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    text = encode(data).decode()
    assert json_message.read_bytes({"a": text if padded else text.rstrip("=")}, "a", "a") == data


@pytest.mark.parametrize("text", ["?", "a", "ab=", "ab=c", "=", "====", "ab c", "€", "aaaaa"])
def test_invalid_base64_is_rejected(text: str) -> None:
    with pytest.raises(BadField, match="profileBytes: is not base64"):
        json_message.read_bytes({"a": text}, "a", "profileBytes")


@given(st.text())
def test_any_text_is_read_as_base64_or_raises_bad_field(text: str) -> None:
    with contextlib.suppress(BadField):
        json_message.read_bytes({"a": text}, "a", "a")


@given(st.integers(0, 10**9 - 1), st.integers(0, 10**9 - 1))
def test_durations_are_exact(seconds: int, nanoseconds: int) -> None:
    text = f"{seconds}.{nanoseconds:09d}s"
    assert json_message.read_duration_ns({"d": text}, "d", "d") == seconds * 10**9 + nanoseconds


@pytest.mark.parametrize(
    "value", ["", "10", "-1s", "1e3s", "1.s", ".5s", "10s\n", 10, True, [], "٣s"]
)
def test_invalid_durations_are_rejected(value: object) -> None:
    with pytest.raises(BadField, match="not a duration"):
        json_message.read_duration_ns({"d": value}, "d", "d")


@pytest.mark.parametrize(("number", "kind"), WIRE_NUMBERS.items())
def test_profile_types_are_read_by_name_or_number(number: int, kind: ProfileType) -> None:
    assert json_message.parse_profile_type(number, "t") is kind
    assert json_message.parse_profile_type(kind.value, "t") is kind


@pytest.mark.parametrize("value", [0, 8, -1, True, "cpu", "", "PROFILE_TYPE_UNSPECIFIED", None, {}])
def test_invalid_profile_types_are_rejected(value: object) -> None:
    with pytest.raises(BadField, match="not a profile type; allowed: CPU, WALL"):
        json_message.parse_profile_type(value, "profileType")


def test_fields_are_read_by_json_name_or_proto_name() -> None:
    assert json_message.get_field({"profileType": 1}, "profileType") == 1
    assert json_message.get_field({"profile_type": 1}, "profileType") == 1
    assert json_message.get_field({"profileType": None}, "profileType") is None


def test_times_need_a_zone() -> None:
    assert json_message.read_time_ns({"t": "1970-01-01T00:00:01.5Z"}, "t", "t") == 1_500_000_000
    assert json_message.read_time_ns({"t": "1970-01-01T01:00:00+01:00"}, "t", "t") == 0
    with pytest.raises(BadField, match="no time zone"):
        json_message.read_time_ns({"t": "1970-01-01T00:00:01"}, "t", "t")
    with pytest.raises(BadField, match="not an RFC 3339"):
        json_message.read_time_ns({"t": "yesterday"}, "t", "startTime")


def test_a_time_outside_of_what_utc_can_say_is_rejected() -> None:
    for text in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"):
        with pytest.raises(BadField, match="is not an RFC 3339 time"):
            json_message.parse_time(text, "start")


@pytest.mark.parametrize(
    ("text", "expected"), [("0001-01-01T00:00:00Z", -(2**63)), ("9999-12-31T00:00:00Z", 2**63 - 1)]
)
def test_a_time_beyond_64_bits_is_the_outermost_one(text: str, expected: int) -> None:
    assert json_message.read_time_ns({"t": text}, "t", "t") == expected


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_value_of_any_depth_is_no_type_and_no_duration(opening: bytes) -> None:
    depth = 1000  # orjson reads 1,024
    closing = b"]" if opening == b"[" else b"}"
    value = orjson.loads(opening * depth + b"1" + closing * depth)
    with pytest.raises(BadField, match="not a profile type"):
        json_message.parse_profile_type(value, "profileType")
    with pytest.raises(BadField, match="not a duration"):
        json_message.read_duration_ns({"d": value}, "d", "d")


def body(before: bytes, profile: bytes = LARGE, after: bytes = b"") -> bytes:
    return b"{" + before + b'"profileBytes":"' + profile + b'"' + after + b"}"


@given(st.dictionaries(st.sampled_from(["profileBytes", "profile_bytes", "x"]), MESSAGES))
def test_upload_is_parsed_like_by_the_json_module(message: dict[str, Any]) -> None:
    found = parse_upload(json.dumps(message).encode())
    plain = {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}
    assert plain == message


@pytest.mark.parametrize("name", ["profileBytes", "profile_bytes"])
@pytest.mark.parametrize("colon", [b":", b" : ", b"\n\t:\r\n "])
def test_a_large_profile_is_found_by_both_names(name: str, colon: bytes) -> None:
    text = b'{"duration":"10s","' + name.encode() + b'"' + colon + b'"' + LARGE + b'", "a": [1]}'
    assert parse_upload(text) == {"duration": "10s", name: LARGE, "a": [1]}
    assert wire.parse_sent_profile(parse_upload(text)).body == b"AAA" * 100_000


def test_escaped_base64_is_read() -> None:
    escaped = rb"+\/+\u002b" * 50_000
    assert (
        wire.parse_sent_profile(parse_upload(body(b"", escaped))).body == b"\xfb\xff\xbe" * 50_000
    )


@pytest.mark.parametrize(
    "text",
    [
        b'{"x":[' + b"{}," * 50_000 + b"{}]}",
        body(b'"x":[' + b"{}," * 50_000 + b"{}],"),
        body(b"", after=b',"x":[' + b"{}," * 50_000 + b"{}]"),
        body(b"", after=b',"profileBytes":"' + LARGE + b'"'),
        body(b'"y":"' + b"y" * MAX_REST_BYTES + b'",'),
        b"[" * 1_000_000,
        b"{" + b'"profileBytes":' * 100_000,
    ],
)
def test_more_than_64_kib_around_the_profile_are_rejected(text: bytes) -> None:
    with pytest.raises(BadRequest, match="65,536 bytes"):
        parse_upload(text)


@pytest.mark.parametrize(
    "text", [b'{"profileBytes":"' + LARGE, body(b"", rb"\q"), b"[1]", b"", b"{"]
)
def test_a_body_that_is_not_a_json_object_is_rejected(text: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_upload(text)


def test_a_nested_array_is_not_followed_for_ever() -> None:
    with pytest.raises(BadRequest, match="not valid JSON"):
        parse_upload(b'{"x":' + b"[" * 60_000)


def test_profile_nested_in_another_field_is_ignored() -> None:
    with pytest.raises(BadField, match="profileBytes"):
        wire.parse_sent_profile(parse_upload(b'{"x":{"profileBytes":"QUFB"}}'))


@pytest.mark.parametrize("text", [rb'{"labels":{"zone":"\ud800"}}', rb'{"x":"\udfff"}'])
def test_lone_surrogate_is_rejected(text: bytes) -> None:
    with pytest.raises(BadRequest, match="not valid JSON"):
        parse_upload(text)


def test_a_profile_that_is_no_text_is_rejected_by_name() -> None:
    with pytest.raises(BadField, match="profileBytes"):
        wire.parse_sent_profile(parse_upload(orjson.dumps({"profileBytes": 5})))
