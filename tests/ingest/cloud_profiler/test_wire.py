"""Parsing of requests, and errors that name the invalid field."""

import contextlib
import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints import json_message
from endpoints.errors import BadField, BadRequest
from ingest.cloud_profiler import wire
from projects.profile_types import ProfileType
from projects.registration.registry import DeploymentKey

GOOD: dict[str, Any] = {
    "parent": "projects/acme-shop",
    "deployment": {
        "projectId": "acme-shop",
        "target": "shop.web_1",
        "labels": {"zone": "eu-1", "version": "1.2.3", "language": "python", "api-key": "fw_x"},
    },
    "profileType": ["CPU", "WALL"],
}
SENT = {"profileBytes": "aGVsbG8=", "labels": {"instance": "web-1"}, "duration": "10s"}


def changed(path: str, value: object, message: dict[str, Any] = GOOD) -> dict[str, Any]:
    copied = copy.deepcopy(message)
    *parents, last = path.split(".")
    message = copied
    for name in parents:
        message = message[name]
    message[last] = value
    return copied


def test_handshake_is_parsed_into_types_and_deployment() -> None:
    handshake = wire.parse_handshake(GOOD)
    assert handshake.types == {ProfileType.CPU, ProfileType.WALL}
    deployment = handshake.deployment
    assert deployment.key == DeploymentKey("shop.web_1", "eu-1", "1.2.3", "python")


def test_the_key_in_a_label_is_taken_out_of_the_labels() -> None:
    assert wire.get_key_label(GOOD) == "fw_x"
    assert "api-key" not in wire.parse_handshake(GOOD).deployment.labels


def test_region_is_read_as_zone() -> None:
    labels = {"region": "eu"}
    assert wire.parse_handshake(changed("deployment.labels", labels)).deployment.key.zone == "eu"


def test_types_may_be_numbers_and_names_as_in_the_proto() -> None:
    message = changed("profile_type", [3, "THREADS"])
    del message["profileType"]
    assert wire.parse_handshake(message).types == {ProfileType.HEAP, ProfileType.THREADS}


def test_unknown_fields_are_ignored() -> None:
    assert wire.parse_handshake(changed("somethingNew", {"a": 1})).deployment.target == "shop.web_1"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("deployment", None, "deployment"),
        ("deployment", "shop", "deployment"),
        ("deployment.target", None, "deployment.target"),
        ("deployment.target", "Shop", "deployment.target"),
        ("deployment.target", "shop-", "deployment.target"),
        ("deployment.target", "shop\n", "deployment.target"),
        ("deployment.target", "s" * 256, "deployment.target"),
        ("deployment.target", 5, "deployment.target"),
        ("deployment.labels", ["zone"], "deployment.labels"),
        ("deployment.labels", {"Zone": "x"}, "deployment.labels"),
        ("deployment.labels", {"z" * 64: "x"}, "deployment.labels"),
        ("deployment.labels", {"zone": 5}, "deployment.labels.zone"),
        ("deployment.labels", {"zone": "a\0b"}, "deployment.labels.zone"),
        ("deployment.labels", {"zone": "ä" * 257}, "deployment.labels.zone"),
        ("deployment.labels", {"a": "x" * 512, "b": "x" * 511}, "deployment.labels"),
        ("profileType", None, "profileType"),
        ("profileType", [], "profileType"),
        ("profileType", ["CPU", "GPU"], "profileType[1]"),
        ("profileType", [0], "profileType[0]"),
        ("profileType", [["CPU"]], "profileType[0]"),
    ],
)
def test_a_handshake_that_cannot_be_used_names_the_field(
    path: str, value: object, field: str
) -> None:
    with pytest.raises(BadField) as caught:
        wire.parse_handshake(changed(path, value))
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")


def test_values_at_the_limits_are_accepted() -> None:
    labels = {"a": "x" * 512, "b": "x" * 510}
    assert wire.parse_handshake(changed("deployment.labels", labels)).deployment.labels == labels
    assert (
        wire.parse_handshake(changed("deployment.target", "s" * 255)).deployment.target == "s" * 255
    )


def test_the_key_does_not_count_against_the_size_of_the_labels() -> None:
    labels = {"a": "x" * 512, "b": "x" * 510, "api-key": "fw_x"}
    del labels["api-key"]
    message = changed("deployment.labels", labels | {"api-key": "fw_x"})
    assert wire.parse_handshake(message).deployment.labels == labels


@pytest.mark.parametrize("deployment", [None, 5, {}, {"labels": 5}, {"labels": {"api-key": 5}}])
def test_message_without_a_key_label_has_an_empty_key(deployment: object) -> None:
    assert wire.get_key_label({"deployment": deployment}) == ""


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b'{"a": "\\ud800"}', b"NaN"])
def test_a_body_that_is_no_json_object_is_rejected(body: bytes) -> None:
    with pytest.raises(BadRequest):
        json_message.parse(body)


def test_upload_is_parsed_into_bytes_labels_and_duration() -> None:
    sent = wire.parse_sent_profile(SENT)
    assert (sent.body, sent.labels, sent.duration_ns) == (
        b"hello",
        {"instance": "web-1"},
        10_000_000_000,
    )


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("profileBytes", None, "profileBytes"),
        ("profileBytes", "", "profileBytes"),
        ("profileBytes", 7, "profileBytes"),
        ("profileBytes", "a*b", "profileBytes"),
        ("labels", {"instance": ["x"]}, "labels.instance"),
        ("labels", "x", "labels"),
        ("duration", "ten", "duration"),
    ],
)
def test_an_upload_that_cannot_be_used_names_the_field(
    path: str, value: object, field: str
) -> None:
    with pytest.raises(BadField) as caught:
        wire.parse_sent_profile(changed(path, value, SENT))
    assert caught.value.field == field


def test_offline_profile_needs_type_and_deployment() -> None:
    message = SENT | {"profileType": "HEAP", "deployment": GOOD["deployment"]}
    profile = wire.parse_offline_profile(message | {"startTime": "1970-01-01T00:00:02Z"})
    assert profile.type is ProfileType.HEAP
    assert profile.deployment.target == "shop.web_1"
    assert profile.start_ns == 2_000_000_000
    for missing in ("profileType", "deployment"):
        with pytest.raises(BadField, match=f"^{missing}: is missing"):
            wire.parse_offline_profile(changed(missing, None, message))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FIELDS = st.sampled_from(
    ["deployment", "deployment.target", "deployment.labels", "profileType", "labels", "duration"]
)


@given(FIELDS, JSON)
def test_any_value_of_any_field_is_parsed_or_raises_bad_field(path: str, value: object) -> None:
    message = changed(path, value, GOOD | SENT)
    body = orjson.dumps(message, option=orjson.OPT_NON_STR_KEYS)
    for read in (wire.parse_handshake, wire.parse_sent_profile, wire.parse_offline_profile):
        with contextlib.suppress(BadField):
            read(json_message.parse(body))
