"""`push.v1.PusherService/Push` in the Connect protocol."""

import base64
import gzip
import time
from typing import Any

import httpx
import orjson
import pytest
from pytest_django import Settings

from ingest.pyroscope import push_message
from ingest.pyroscope.push_message import MAX_LABELS, MAX_PROFILES
from profiles.models import Profile
from projects.credentials import keys
from projects.models import Project, Quota
from tests.ingest import pprof
from tests.ingest.client import Client
from tests.ingest.pprof import field
from tests.ingest.pyroscope.client import PUSH, PyroscopeClient, basic

pytestmark = pytest.mark.django_db(transaction=True)

LABELS = {"service_name": "shop", "__name__": "process_cpu", "region": "eu", "pod": "pod-1"}
MEMORY = (("alloc_space", "bytes"), ("inuse_space", "bytes"))
NOW = int(time.time()) * 10**9


def message(*profiles: bytes, **labels: str) -> dict[str, Any]:
    """Return a PushRequest of one series."""
    pairs = [{"name": name, "value": value} for name, value in (LABELS | labels).items() if value]
    samples = [{"ID": "x", "rawProfile": base64.b64encode(each).decode()} for each in profiles]
    return {"series": [{"labels": pairs, "samples": samples}]}


def encoded(*profiles: bytes, **labels: str) -> bytes:
    """Return the same in protocol buffers."""
    series = b"".join(
        field(1, field(1, name.encode()) + field(2, value.encode()))
        for name, value in (LABELS | labels).items()
    )
    series += b"".join(field(2, field(1, each) + field(2, b"id")) for each in profiles)
    return field(1, series)


def assert_error(response: httpx.Response, status: int, code: str, *words: str) -> None:
    body = response.json()
    assert (response.status_code, body["code"]) == (status, code), body
    assert set(body) == {"code", "message"}
    for word in words:
        assert word in body["message"]


def test_json_is_stored_and_answered_in_json(client: PyroscopeClient) -> None:
    response = client.push(orjson.dumps(message(pprof.SIMPLE)))
    assert (response.status_code, response.json()) == (200, {})
    assert response.headers["content-type"] == "application/json"
    row = Profile.objects.select_related("deployment").get()
    assert (row.service, row.type, row.deployment.zone) == ("shop", "CPU", "eu")
    assert row.labels == {"instance": "pod-1"}


@pytest.mark.parametrize("profile", [pprof.SIMPLE, gzip.decompress(pprof.SIMPLE)])
def test_protobuf_is_stored_and_answered_without_bytes(
    profile: bytes, client: PyroscopeClient
) -> None:
    response = client.push(encoded(profile), "application/proto")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == "application/proto"
    assert Profile.objects.get().weight == 40_000_000


def test_gzip_request_is_stored(client: PyroscopeClient) -> None:
    body = gzip.compress(encoded(pprof.SIMPLE))
    response = client.push(body, "application/proto; charset=utf-8", Content_Encoding="gzip")
    assert response.status_code == 200, response.text
    assert Profile.objects.count() == 1


def test_every_sample_of_every_series_is_stored(client: PyroscopeClient) -> None:
    other = pprof.profile({("main",): (1, 5)})
    body = encoded(pprof.SIMPLE, other) + encoded(pprof.SIMPLE, service_name="billing")
    assert client.push(body, "application/proto").status_code == 200
    assert sorted(Profile.objects.values_list("service", flat=True)) == ["billing", "shop", "shop"]


def test_repeated_push_is_stored_once(client: PyroscopeClient) -> None:
    for _ in range(2):
        assert client.push(encoded(pprof.SIMPLE), "application/proto").status_code == 200
    assert Profile.objects.count() == 1


@pytest.mark.parametrize(
    ("labels", "duration", "types"),
    [
        ({"__delta__": "false"}, 0, ["HEAP", "HEAP_ALLOC"]),
        ({}, 5 * 10**9, ["HEAP", "HEAP_ALLOC"]),
        ({}, 0, ["HEAP"]),  # totals since the start of the program
    ],
)
def test_allocations_are_stored_unless_they_are_totals(
    labels: dict[str, str], duration: int, types: list[str], client: PyroscopeClient
) -> None:
    body = pprof.profile({("main",): (7, 9)}, MEMORY, NOW, duration)
    client.push(encoded(body, __name__="memory", **labels), "application/proto")
    assert sorted(Profile.objects.values_list("type", flat=True)) == types


def test_profile_name_decides_the_type_of_ambiguous_samples(
    client: PyroscopeClient,
) -> None:
    body = pprof.profile({("main",): (7,)}, [("samples", "count")])
    client.push(encoded(body, __name__="wall"), "application/proto")
    assert Profile.objects.get().type == "WALL"


def test_valid_samples_are_stored_beside_an_invalid_one(client: PyroscopeClient) -> None:
    response = client.push(encoded(b"nonsense", pprof.SIMPLE), "application/proto")
    assert_error(response, 400, "invalid_argument", "series[0].samples[0]: ")
    assert Profile.objects.count() == 1


# -- errors -------------------------------------------------------------------------------


def test_a_bad_key_is_401(client: PyroscopeClient) -> None:
    response = client.push(
        encoded(pprof.SIMPLE), "application/proto", Authorization=basic("a", "b")
    )
    assert_error(response, 401, "unauthenticated")


def test_a_key_that_may_only_read_is_403(reader: Client) -> None:
    response = PyroscopeClient(reader).push(encoded(pprof.SIMPLE), "application/proto")
    assert_error(response, 403, "permission_denied")


def test_a_project_over_its_quota_is_429(client: PyroscopeClient, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=0)
    response = client.push(encoded(pprof.SIMPLE), "application/proto")
    assert_error(response, 429, "resource_exhausted", "profiles_per_day")
    assert "Retry-After" in response.headers


def test_push_over_the_size_limit_is_400(client: PyroscopeClient, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = client.push(encoded(pprof.SIMPLE), "application/proto")
    assert_error(response, 400, "invalid_argument", "FLAMEWATCH_MAX_UPLOAD_BYTES")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"series": 5}, "series: must be a list"),
        ({"series": [5]}, "series: must be a list"),
        ({"series": [{"labels": [5]}]}, "series[0].labels: must be a list"),
        ({"series": [{"labels": [{"name": 5}]}]}, "series[0].labels: names"),
        ({"series": [{"samples": [{}]}]}, "series[0].samples[0].rawProfile: is missing"),
        ({"series": [{"samples": [{"rawProfile": "?"}]}]}, "rawProfile: is not valid base64"),
        (message(pprof.SIMPLE, service_name=""), "series[0].samples[0]: labels: name no service"),
        (
            {
                "series": [
                    {"labels": [{"name": str(i), "value": ""} for i in range(MAX_LABELS + 1)]}
                ]
            },
            "series[0].labels: has more than",
        ),
        ({"series": [{"samples": [{"rawProfile": ""}] * (MAX_PROFILES + 1)}]}, "series: has more"),
        ({"series": [{"labels": [{"name": "x" * 300_000}]}]}, "The JSON around the profiles"),
    ],
)
def test_a_json_field_that_cannot_be_used_is_400_and_named(
    change: dict[str, Any], words: str, client: PyroscopeClient
) -> None:
    assert_error(client.push(orjson.dumps(change)), 400, "invalid_argument", words)
    assert not Profile.objects.exists()


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"\xff", encoded(pprof.SIMPLE)[:-3], encoded(*[b""] * (MAX_PROFILES + 1))]
)
def test_a_malformed_body_is_400(body: bytes, client: PyroscopeClient) -> None:
    for content_type in ("application/json", "application/proto"):
        assert_error(client.push(body, content_type), 400, "invalid_argument")


def test_a_message_with_too_many_fields_is_400(
    client: PyroscopeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.pyroscope.protobuf.MAX_FIELDS", 20)
    response = client.push(encoded(*[pprof.SIMPLE] * 10), "application/proto")
    assert_error(response, 400, "invalid_argument", "more than 20 fields")


@pytest.mark.parametrize("content_type", ["application/grpc", "text/plain", ""])
def test_another_encoding_is_415(content_type: str, client: PyroscopeClient) -> None:
    response = client.push(encoded(pprof.SIMPLE), content_type)
    assert response.status_code == 415
    assert response.headers["accept-post"] == "application/proto, application/json"


def test_another_method_is_an_error(client: PyroscopeClient) -> None:
    response = client.agent.request("GET", PUSH)
    assert_error(response, 405, "unimplemented", "POST")


def test_json_may_escape_slashes_and_name_fields_as_the_proto() -> None:
    profile = b"\xff\xff\xfe" * 3
    text = base64.b64encode(profile).replace(b"/", b"\\/")
    body = b'{"series":[{"labels":[],"samples":[{"raw_profile": "' + text + b'"}]}]}'
    (found,) = push_message.read_json(body)
    assert (found.pprof, found.field) == (profile, "series[0].samples[0]")


def test_service_that_the_key_may_not_send_is_403_after_the_others_are_stored(
    project: Project,
) -> None:
    _, text = keys.create(project, "ci", services=["till"])
    client = PyroscopeClient(Client(project.project_id, text))
    series = [
        *message(pprof.SIMPLE)["series"],
        *message(pprof.SIMPLE, service_name="till")["series"],
    ]
    response = client.push(orjson.dumps({"series": series}))
    assert_error(response, 403, "permission_denied", "till only, not for shop")
    assert Profile.objects.get().service == "till"
