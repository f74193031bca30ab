"""Messages of the Cloud Profiler API, as the agent writes and reads them."""

import base64
import json
from typing import Any

import pytest
from fakes import config

from flamewatch.capture.profile_types import ProfileType
from flamewatch.transport import messages
from flamewatch.transport.messages import Assignment, InvalidResponse

ASSIGNED = {"name": "projects/acme/profiles/aB-_=", "profileType": "WALL", "duration": "10s"}
TYPES = (ProfileType.CPU, ProfileType.WALL)


def test_handshake_has_types_and_deployment() -> None:
    assert messages.create_path(config()) == "/v2/projects/-/profiles"
    assert json.loads(messages.create_body(config(), TYPES)) == {
        "deployment": {
            "target": "checkout",
            "labels": {"language": "python", "version": "1.4.2", "zone": "eu-1"},
        },
        "profileType": ["CPU", "WALL"],
    }


def test_labels_without_a_value_are_left_out() -> None:
    sent = json.loads(messages.create_body(config(version="", zone=""), TYPES))
    assert sent["deployment"]["labels"] == {"language": "python"}


def test_a_project_that_was_given_is_sent() -> None:
    given = config(project="acme")
    assert messages.create_path(given) == "/v2/projects/acme/profiles"
    assert json.loads(messages.create_body(given, TYPES))["deployment"]["projectId"] == "acme"


def test_an_upload_is_the_whole_profile() -> None:
    assignment = Assignment("projects/acme/profiles/p1", ProfileType.CPU, 10.0)
    sent = json.loads(messages.upload_body(config(), "web-1", assignment, b"\x1f\x8b..."))
    assert messages.upload_path(assignment) == "/v2/projects/acme/profiles/p1"
    assert sent["name"] == "projects/acme/profiles/p1"
    assert (sent["profileType"], sent["duration"]) == ("CPU", "10s")
    assert sent["labels"] == {"instance": "web-1"}
    assert base64.b64decode(sent["profileBytes"]) == b"\x1f\x8b..."
    assert sent["deployment"]["target"] == "checkout"


def test_an_assignment_names_type_and_duration() -> None:
    found = messages.read_assignment(json.dumps(ASSIGNED).encode(), TYPES)
    assert found == Assignment("projects/acme/profiles/aB-_=", ProfileType.WALL, 10.0)


@pytest.mark.parametrize(
    "change",
    [
        {"name": None},
        {"name": "projects/acme/profiles/../../evil"},
        {"name": "projects/acme/profiles/x?key=y"},
        {"name": "projects/acme/profiles/x\r\nX-Evil: 1"},
        {"profileType": "HEAP"},
        {"profileType": "THREADS"},
        {"profileType": 1},
        {"duration": "3600s"},
        {"duration": None},
    ],
)
def test_an_assignment_that_makes_no_sense_is_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidResponse):
        messages.read_assignment(json.dumps(ASSIGNED | change).encode(), TYPES)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b"[" * 100_000, b'"text"'])
def test_a_body_that_is_no_json_object_is_rejected(body: bytes) -> None:
    with pytest.raises(InvalidResponse):
        messages.read_assignment(body, TYPES)
    assert messages.read_error_response(502, body).retry_after is None


def error_body(*details: object) -> bytes:
    return json.dumps({"error": {"code": 409, "message": "later", "details": details}}).encode()


def test_retry_info_is_found_whatever_the_status() -> None:
    body = error_body({"@type": "…/google.rpc.Help"}, {"retryDelay": "33s"})
    for status in (400, 401, 403, 404, 409, 429, 500, 503):
        found = messages.read_error_response(status, body)
        assert (found.status, found.message, found.retry_after) == (status, "later", 33.0)


def test_retry_after_header_is_used_without_retry_info() -> None:
    assert messages.read_error_response(503, b"<html>", "120").retry_after == 120
    assert (
        messages.read_error_response(503, b"<html>", "Fri, 31 Dec 1999 23:59:59 GMT").retry_after
        is None
    )
    assert (
        messages.read_error_response(503, error_body({"retryDelay": "5s"}), "120").retry_after == 5
    )


@pytest.mark.parametrize(
    "body",
    [b'{"error": 5}', b'{"error": {"details": 7, "message": []}}', error_body(None, "x", {})],
)
def test_malformed_error_body_has_no_retry_delay(body: bytes) -> None:
    assert messages.read_error_response(403, body).retry_after is None
