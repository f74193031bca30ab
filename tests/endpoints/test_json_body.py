"""Upload bodies: a profile of any size in a small JSON object."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints.errors import BadField, BadRequest
from endpoints.json_body import MAX_REST_BYTES, parse_upload
from ingest.cloud_profiler import wire

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


def body(before: bytes, profile: bytes = LARGE, after: bytes = b"") -> bytes:
    return b"{" + before + b'"profileBytes":"' + profile + b'"' + after + b"}"


@given(st.dictionaries(st.sampled_from(["profileBytes", "profile_bytes", "x"]), MESSAGES))
def test_it_reads_what_any_parser_reads(message: dict[str, Any]) -> None:
    found = parse_upload(json.dumps(message).encode())
    plain = {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}
    assert plain == message


@pytest.mark.parametrize("name", ["profileBytes", "profile_bytes"])
@pytest.mark.parametrize("colon", [b":", b" : ", b"\n\t:\r\n "])
def test_a_large_profile_is_found_by_both_names(name: str, colon: bytes) -> None:
    text = b'{"duration":"10s","' + name.encode() + b'"' + colon + b'"' + LARGE + b'", "a": [1]}'
    assert parse_upload(text) == {"duration": "10s", name: LARGE, "a": [1]}
    assert wire.sent_profile(parse_upload(text)).body == b"AAA" * 100_000


def test_escaped_base64_is_read() -> None:
    escaped = rb"+\/+\u002b" * 50_000
    assert wire.sent_profile(parse_upload(body(b"", escaped))).body == b"\xfb\xff\xbe" * 50_000


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


def test_a_profile_inside_another_field_is_none() -> None:
    with pytest.raises(BadField, match="profileBytes"):
        wire.sent_profile(parse_upload(b'{"x":{"profileBytes":"QUFB"}}'))


@pytest.mark.parametrize("text", [rb'{"labels":{"zone":"\ud800"}}', rb'{"x":"\udfff"}'])
def test_half_a_pair_of_surrogates_is_no_text(text: bytes) -> None:
    with pytest.raises(BadRequest, match="not valid JSON"):
        parse_upload(text)


def test_a_profile_that_is_no_text_is_rejected_by_name() -> None:
    with pytest.raises(BadField, match="profileBytes"):
        wire.sent_profile(parse_upload(orjson.dumps({"profileBytes": 5})))
