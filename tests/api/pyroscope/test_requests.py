"""Authentication, tenants, limits and errors of Pyroscope's query API."""

import base64
import gzip
from typing import Any

import pytest

from projects.credentials import keys
from projects.models import Project
from tests.api.pyroscope.conftest import CPU, HOUR, Call
from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)
SERVICE = "/querier.v1.QuerierService"
PROCEDURES = (
    *("ProfileTypes", "LabelNames", "LabelValues", "Series", "GetProfileStats"),
    *("SelectMergeStacktraces", "SelectMergeSpanProfile", "SelectMergeProfile", "Diff"),
    *("SelectSeries", "SelectHeatmap", "AnalyzeQuery"),
)
DOCUMENT_URLS = (
    f"/pyroscope/render?query={CPU}",
    f"/pyroscope/render-diff?leftQuery={CPU}&rightQuery={CPU}",
    "/pyroscope/label-values?label=service_name",
)
CPU_FIELDS: dict[str, Any] = {
    "profile_typeID": CPU,
    "name": "service_name",
    "step": 15,
    **{side: {"profile_typeID": CPU, **HOUR} for side in ("left", "right")},
}


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_another_projects_key_sees_nothing(procedure: str, call: Call, stranger: Client) -> None:
    response = call(procedure, stranger, **CPU_FIELDS)
    assert response.status_code == 200, response.text
    document = response.json()
    graph = document.pop("flamegraph", {"names": ["total"]})
    assert graph["names"] == ["total"]
    for scope in document.pop("queryScopes", []):
        assert scope.keys() == {"componentType", "componentCount"}  # the amounts are zero
    assert document in ({}, {"dataIngested": False}, {"queryImpact": {}})


@pytest.mark.one_database
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_request_without_the_read_scope_is_rejected(
    procedure: str, call: Call, agent: Client
) -> None:
    missing = call(procedure, Client(agent.project), **CPU_FIELDS)
    assert (missing.status_code, missing.json()["code"]) == (401, "unauthenticated")
    assert "Missing API key" in missing.json()["message"]
    wrong = call(procedure, Client(agent.project, "fw_wrong"), **CPU_FIELDS)
    assert (wrong.status_code, wrong.json()["code"]) == (401, "unauthenticated")
    writer = call(procedure, agent, **CPU_FIELDS)
    assert (writer.status_code, writer.json()["code"]) == (403, "permission_denied")


@pytest.mark.one_database
@pytest.mark.parametrize("path", DOCUMENT_URLS)
def test_documents_without_the_read_scope_are_rejected(
    path: str, shops: None, agent: Client, stranger: Client
) -> None:
    assert Client("").request("GET", path).status_code == 401
    assert agent.request("GET", path).status_code == 403
    response = stranger.request("GET", path)
    assert response.status_code == 200
    document = response.json()
    assert document == [] or document["flamebearer"]["names"] == ["total"]


def test_grafana_sends_the_key_as_password_or_header(shops: None, project: Project) -> None:
    key = keys.create(project, "grafana", write=False, read=True)[1]
    from_basic = _basic("anyone", key)
    for headers in (from_basic, {"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
        sent = {**headers, "X-Scope-OrgID": "other-shop"}
        response = Client("").request("POST", f"{SERVICE}/ProfileTypes", json=HOUR, headers=sent)
        assert len(response.json()["profileTypes"]) == 3


def _basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.one_database
def test_bodies_may_be_gzipped_in_both_directions(shops: None, reader: Client) -> None:
    response = reader.request(
        "POST",
        f"{SERVICE}/SelectSeries",
        content=gzip.compress(
            b'{"profile_typeID": "%s", "label_selector": "{}", "step": 1, "group_by": ["instance"],'
            b'"start": "%d", "end": "%d"}' % (CPU.encode(), HOUR["start"], HOUR["end"])
        ),
        headers={
            "content-type": "application/json; charset=utf-8",
            "content-encoding": "gzip",
            "accept-encoding": "gzip",
            "connect-protocol-version": "1",
        },
    )
    assert response.status_code == 200, response.text
    assert len(response.json()["series"]) == 3


def test_long_response_is_gzipped_and_a_short_one_is_not(call: Call, reader: Client) -> None:
    short = call("SelectMergeStacktraces", profile_typeID=CPU)
    assert "content-encoding" not in short.headers
    long = call("SelectMergeProfile", profile_typeID=CPU, label_selector='{service_name="shop"}')
    assert long.headers["content-encoding"] == "gzip"
    assert long.json()["sampleType"]


def test_another_encoding_is_415(shops: None, reader: Client) -> None:
    headers = {"content-type": "application/grpc"}
    response = reader.request("POST", f"{SERVICE}/Series", content=b"", headers=headers)
    assert (response.status_code, response.headers["accept-post"]) == (
        415,
        "application/proto, application/json",
    )


def test_an_unknown_procedure_is_unimplemented(call: Call) -> None:
    response = call("SelectMergeTraces")
    assert (response.status_code, response.json()["code"]) == (501, "unimplemented")


def test_only_post_calls_a_procedure(reader: Client) -> None:
    response = reader.request("GET", f"{SERVICE}/ProfileTypes")
    assert response.json()["code"] == "unimplemented"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b"[]"),
        ("application/json", b'{"start": "x"}'),
        ("application/json", b'{"start": {}}'),
        ("application/json", b'{"labelNames": "x"}'),
        ("application/json", b'{"matchers": [null]}'),
        ("application/json", b'{"matchers": ["{a=\\"\\u0000\\"}"]}'),
        ("application/json", b'{"start": 99999999999999999999}'),
        ("application/proto", b"\xff\xff\xff"),
        ("application/proto", b"\x0a\x7fx"),
        ("application/proto", b"\x0a\x02\xff\xfe"),
        ("application/proto", b"\x0a\x04{\x00=}"),
    ],
)
def test_a_malformed_message_is_an_invalid_argument(
    content_type: str, body: bytes, shops: None, reader: Client
) -> None:
    headers = {"content-type": content_type}
    response = reader.request("POST", f"{SERVICE}/Series", content=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


def test_a_message_of_64_kib_is_the_limit(shops: None, reader: Client) -> None:
    headers = {"content-type": "application/json"}
    body = b'{"labelNames": ["' + b"x" * 70_000 + b'"]}'
    response = reader.request("POST", f"{SERVICE}/Series", content=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")
    assert "65,536 bytes" in response.json()["message"]


@pytest.mark.usefixtures("stopped_clock")
def test_calls_count_as_queries(call: Call, settings: Any) -> None:
    settings.QUERIES_PER_MINUTE = 1
    statuses = [call("ProfileTypes").status_code for _ in range(2)]
    assert statuses == [200, 429]
    assert call("Series").json()["code"] == "resource_exhausted"


def test_settings_of_grafanas_app_are_empty(reader: Client) -> None:
    response = reader.request("POST", "/settings.v1.SettingsService/Get", json={})
    assert (response.status_code, response.json()) == (200, {})


def test_wrong_method_gets_405_with_the_allowed_one(shops: None, reader: Client) -> None:
    response = reader.request("POST", "/pyroscope/render", content=b"")
    assert response.status_code == 405
    assert response.json() == {"code": "unimplemented", "message": "This URL supports GET only."}
