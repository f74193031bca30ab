"""Counts of uploads, and the log of rejected ones."""

from collections.abc import Mapping

import pytest

from ingest.uploads.upload_metrics import Protocol
from projects.models import Project, Quota
from tests.ingest.client import Client
from tests.metric_values import metric_value

pytestmark = pytest.mark.django_db(transaction=True)


def uploads(protocol: str, status: str) -> float:
    return metric_value("flamewatch_uploads_total", protocol=protocol, status=status)


def observed(protocol: str) -> float:
    return metric_value("flamewatch_upload_duration_seconds_count", protocol=protocol)


def test_uploads_are_counted_by_protocol_and_status_but_handshakes_are_not(agent: Client) -> None:
    stored, rejected = uploads("cloud_profiler", "200"), uploads("cloud_profiler", "400")
    times = observed("cloud_profiler")
    name = agent.captured_request()["name"]
    assert agent.upload(name).status_code == 200
    assert agent.offline(b"no profile").status_code == 400
    assert uploads("cloud_profiler", "200") == stored + 1
    assert uploads("cloud_profiler", "400") == rejected + 1
    assert observed("cloud_profiler") == times + 2


# By protocol; gRPC is tested in tests/ingest/cloud_profiler and tests/ingest/otlp.
PATHS: Mapping[str, str] = {
    "cloud_profiler": "/v2/projects/acme-shop/profiles:createOffline",
    "file": "/api/v1/projects/acme-shop/profiles:import?service=a&type=CPU",
    "otlp": "/v1development/profiles",
    "pyroscope": "/ingest?name=a",
}


def test_every_protocol_over_http_has_a_path() -> None:
    over_http = {each.value for each in Protocol if not each.endswith("_grpc")}
    assert over_http == {*PATHS}, "add a row to PATHS for each protocol"


@pytest.mark.parametrize(("protocol", "path"), PATHS.items(), ids=PATHS)
def test_uploads_of_each_protocol_are_counted(protocol: str, path: str, project: Project) -> None:
    before, times = uploads(protocol, "401"), observed(protocol)
    stranger = Client("acme-shop", "no key")
    assert stranger.request("POST", path, content=b"x").status_code == 401
    assert uploads(protocol, "401") == before + 1
    assert observed(protocol) == times + 1


def test_rejected_uploads_are_logged_once_with_service_and_agent(
    agent: Client, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    Quota.objects.create(project=project, bytes_per_profile=10)
    agent.headers["x-flamewatch-host"] = "pod-7"
    for _ in range(4):
        assert agent.offline().status_code == 413
    (line,) = (each for each in caplog.messages if each.startswith("Upload rejected"))
    assert line.startswith(
        "Upload rejected with 413: project acme-shop, service checkout, agent pod-7: "
    )
    assert agent.key not in caplog.text
