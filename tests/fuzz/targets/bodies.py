"""Request bodies of /v2 and of the capture endpoint."""

import asyncio
import base64
import gzip
from collections.abc import Callable, Mapping
from dataclasses import astuple
from datetime import UTC, timedelta
from functools import cache
from typing import Any

import orjson

from api.resources.capture import _read_params
from common.request_body import Disconnected
from endpoints import bodies, json_message
from endpoints.errors import BadField, BadRequest, BodyTooLarge
from ingest.cloud_profiler import messages, upload_message, wire
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from ingest.cloud_profiler.responses import deployment_json
from ingest.uploads import requests, upload
from profiles.models import TimeSource
from projects.profile_types import ProfileType
from tests.fuzz import seeds
from tests.fuzz.fuzz_target import FuzzTarget, InputForm

ALLOWED = 2**16  # bytes of a body
INT64 = range(-(2**63), 2**63)
_MONTH = timedelta(days=30)
_loop = asyncio.new_event_loop()


def parse_upload(body: bytes) -> None:
    """Parse an upload's JSON; cutting out the profile must not change what is read."""
    message = json_message.parse_upload(body)
    sent = _read_upload(wire.parse_sent_profile, message)
    offline = _read_upload(wire.parse_offline_profile, message)
    if isinstance(sent, str) and isinstance(offline, str):
        raise BadField("message", offline)
    plain = json_message.parse(body)
    assert _read_upload(wire.parse_sent_profile, plain) == sent
    assert _read_upload(wire.parse_offline_profile, plain) == offline
    if isinstance(offline, wire.OfflineProfile):
        _check_times(offline)


def parse_upload_protobuf(body: bytes) -> None:
    """Parse an upload's protobuf; cutting out the profile must not change what is read."""
    parts = upload_message.split(body, 1)
    profile = messages._profile(parts)
    messages._parse(pb.UpdateProfileRequest(), parts.rest)
    profile.profile_bytes = parts.profile_bytes
    whole = pb.UpdateProfileRequest()
    messages._parse(whole, body)
    assert profile == whole.profile, "the parts differ from the whole"
    messages.parse_update(body)
    sent = messages.parse_sent_profile(parts)
    offline = messages.parse_offline_profile(parts)
    assert (offline.body, offline.labels, offline.duration_ns) == (
        sent.body,
        sent.labels,
        sent.duration_ns,
    )
    _check_times(offline)


def parse_handshake_protobuf(body: bytes) -> None:
    project, message = messages.create_profile_request(body)
    wire.get_key_label(message)
    handshake = wire.parse_handshake(message)
    assert project
    assert handshake.types <= set(ProfileType)
    target = handshake.deployment
    messages.profile_response(
        {"deployment": deployment_json(project, target.target, target.labels)}
    )


def _read_upload(read: Callable[[dict[str, Any]], object], message: dict[str, Any]) -> object:
    """Return the upload, or the field that is invalid."""
    try:
        return read(message)
    except BadField as error:
        return error.field


def _check_times(profile: wire.OfflineProfile) -> None:
    claims = (None, profile.start_ns)
    assert profile.start_ns is None or profile.start_ns in INT64, "a time exceeds 64 bits"
    found = upload.choose_start(claims, seeds.NOON, _MONTH, 10**10)
    if found.source is TimeSource.PROFILE:
        assert seeds.NOON - _MONTH <= found.time <= seeds.NOON + upload.MAX_TIME_AHEAD
    orjson.dumps([profile.type, profile.labels, profile.start_ns])


def parse_handshake(body: bytes) -> None:
    """Parse the body of a handshake or of a capture request."""
    message = json_message.parse(body)
    assert isinstance(wire.get_key_label(message), str)
    try:
        params = _read_params(message)
    except BadField:
        handshake = wire.parse_handshake(message)
        assert handshake.types <= frozenset(ProfileType)
        assert handshake.types, "a handshake without a type"
    else:
        assert "\0" not in params.service


def read_labels(body: bytes) -> None:
    """Read the labels of a deployment and of a profile, which become text in the database."""
    message = json_message.parse(body)
    found = wire.parse_deployment(message, "deployment")
    assert wire.KEY_LABEL not in found.labels
    for bounded in (found.labels, wire.parse_profile_labels(message, "labels")):
        assert sum(len(name) + len(value.encode()) for name, value in bounded.items()) <= 1024
        assert all(value.isprintable() or value.strip("\x00\x1f\x7f") for value in bounded.values())
    orjson.dumps(deployment_json("shop-1", found.target, found.labels))
    assert max(map(len, astuple(found.key))) <= 512


def receive_body(data: bytes) -> None:
    """Receive a body in chunks, after a query string and headers, each in a line."""
    head, _, body = data.partition(b"\n\n")
    query, *lines = head.split(b"\n")
    headers = [(name.lower(), value) for name, _, value in (line.partition(b":") for line in lines)]
    request = requests.UploadRequest.from_scope(
        {"method": "POST", "path": "/v2", "query_string": query, "headers": headers},
        _receiver(body),
    )
    assert len(request.query) <= 20
    bodies.check_declared_size(request.headers, "LIMIT", ALLOWED)
    received = _loop.run_until_complete(bodies.read(request.receive, "LIMIT", ALLOWED))
    decoded = bodies.decode_body(received, request.headers, "LIMIT", ALLOWED)
    assert len(decoded) <= ALLOWED
    assert len(decoded) <= max(bodies.ANY_RATIO_BYTES, bodies.MAX_RATIO * len(received))


def _receiver(body: bytes) -> Callable[[], Any]:
    """Return an ASGI `receive` of the body in chunks, the size of each is its first byte."""

    async def receive() -> Mapping[str, Any]:
        nonlocal body
        if not body:
            return {"type": "http.disconnect"}
        size = body[0] or len(body)
        chunk, body = body[1 : 1 + size], body[1 + size :]
        return {"type": "http.request", "body": chunk, "more_body": bool(body)}

    return receive


def read_time(data: bytes) -> None:
    """Read a time as filters of lists do, which compare it with rows of the database."""
    moment = json_message.parse_time(data.decode("utf-8", "replace"), "start")
    assert moment.astimezone(UTC) == moment


_DEPLOYMENT = {"target": "shop", "labels": {"zone": "eu-1", "version": "1", "language": "go"}}


@cache
def _uploads() -> tuple[bytes, ...]:
    profile = base64.b64encode(gzip.compress(b"\x0a\x00", mtime=0)).decode()
    offline = {
        "profileType": "WALL",
        "deployment": _DEPLOYMENT,
        "duration": "10.5s",
        "startTime": "2026-11-20T12:00:00.5+01:00",
        "labels": {"instance": "a"},
        "profileBytes": profile,
    }
    return (
        orjson.dumps(offline),
        orjson.dumps({"profile_bytes": profile, "profile_type": 2, **offline}),
        orjson.dumps({"profileBytes": profile, "labels": {"instance": "é"}, "duration": "1s"}),
        orjson.dumps(offline).replace(b"/", b"\\/"),
        orjson.dumps({"deployment": {"profileBytes": profile}, "profileBytes": None}),
        orjson.dumps({**offline, "profileType": [[[[]]]], "startTime": "0001-01-01T00:00:00Z"}),
    )


@cache
def _handshakes() -> tuple[bytes, ...]:
    key = {"target": "shop", "labels": {"api-key": "fw_a", "region": "eu"}}
    return (
        orjson.dumps({"profileType": ["CPU", "WALL", 3], "deployment": _DEPLOYMENT}),
        orjson.dumps({"profile_type": "HEAP", "deployment": key}),
        orjson.dumps({"service": "shop", "type": "CPU", "zone": "eu-1", "version": "2"}),
    )


@cache
def _upload_messages() -> tuple[bytes, ...]:
    profile = pb.Profile(
        name="projects/shop-1/profiles/abc",
        profile_type=pb.WALL,
        deployment=pb.Deployment(target="shop", labels={"zone": "eu-1", "version": "1"}),
        profile_bytes=gzip.compress(b"\x0a\x00", mtime=0),
        labels={"instance": "é"},
    )
    profile.duration.FromMilliseconds(10_500)
    profile.start_time.FromJsonString("2026-11-20T12:00:00.5Z")
    message = pb.UpdateProfileRequest(profile=profile)
    message.update_mask.paths.append("profile_bytes")
    whole = message.SerializeToString(deterministic=True)
    profile.start_time.seconds = 2**62
    far = pb.UpdateProfileRequest(profile=profile).SerializeToString(deterministic=True)
    return whole, whole + whole, far


@cache
def _handshake_messages() -> tuple[bytes, ...]:
    deployment = pb.Deployment(project_id="p", target="shop", labels={"api-key": "fw_a"})
    request = pb.CreateProfileRequest(
        parent="projects/shop-1", deployment=deployment, profile_type=[pb.CPU, pb.HEAP]
    )
    return (request.SerializeToString(deterministic=True),)


@cache
def _label_bodies() -> tuple[bytes, ...]:
    return (
        orjson.dumps(_DEPLOYMENT),
        orjson.dumps({"target": "a", "labels": {"api-key": "x", "a" * 63: "é" * 256}}),
        orjson.dumps({"target": "a.b-c_d", "labels": {str(i): "v" * 60 for i in range(12)}}),
    )


@cache
def _requests() -> tuple[bytes, ...]:
    body = gzip.compress(b"\0" * 70_000, mtime=0)
    return (
        b"key=fw_a&updateMask=profileBytes\nContent-Length:5\n\n\x03abcdef",
        b"\ncontent-encoding:gzip\n\n\0" + body,
        b"a=%00&b\ncontent-encoding:identity\ncontent-length:99999999\n\n",
        b"&".join([b"a=1"] * 25) + b"\n\n\0",
    )


_TIMES = (
    *(b"2026-11-20T12:00:00Z", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59"),
    *(b"20261120T120000,5+0130", b"2026-W47-5", b"2026-11-20", b"2026-11-20T24:00:00Z"),
)
_JSON = (
    *(b'"profileBytes":"', b'"profile_bytes"', b'"labels":{', b"[[[[[[[[", b'{"a":', b"null"),
    *(b'"\\u0000"', b'"\\ud800"', b"1e400", b"-0", b'"startTime":"', b'"duration":"1s"', *_TIMES),
    *(b'"%s"' % text for text in _TIMES),
)
_BAD = (BadField, BadRequest)
TARGETS = (
    FuzzTarget("upload-json", parse_upload, _BAD, _uploads, _JSON, InputForm.TEXT),
    FuzzTarget("handshake-json", parse_handshake, _BAD, _handshakes, _JSON, InputForm.TEXT),
    FuzzTarget(
        "upload-protobuf",
        parse_upload_protobuf,
        _BAD,
        _upload_messages,
        form=InputForm.PROTOBUF,
    ),
    FuzzTarget(
        "handshake-protobuf",
        parse_handshake_protobuf,
        _BAD,
        _handshake_messages,
        form=InputForm.PROTOBUF,
    ),
    FuzzTarget("labels", read_labels, _BAD, _label_bodies, _JSON, InputForm.TEXT),
    FuzzTarget(
        "request", receive_body, (BadField, BadRequest, BodyTooLarge, Disconnected), _requests
    ),
    FuzzTarget("time", read_time, (BadField,), lambda: _TIMES, _TIMES, InputForm.TEXT, max_size=64),
)
