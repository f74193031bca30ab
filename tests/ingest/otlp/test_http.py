"""OTLP profiles over HTTP: `POST /v1development/profiles`."""

import asyncio
import gzip

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings

from profiler_site.asgi import application
from profiles.models import Profile
from projects.credentials import keys
from projects.models import Agent, Deployment, Project, Quota
from tests.ingest.client import URL, Client
from tests.ingest.formats.otlp.conversions import sample
from tests.ingest.formats.otlp.test_revision import TIME, message
from tests.ingest.otlp.responses import PartialSuccess, partial_success, status
from tests.ingest.pprof import field, varint

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/v1development/profiles"
PROTOBUF, JSON = "application/x-protobuf", "application/json"


def send(agent: Client, body: bytes, path: str = PATH, **headers: str) -> httpx.Response:
    sent = {"Content-Type": PROTOBUF} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return agent.request("POST", path, content=body, headers=sent)


def success(response: httpx.Response) -> PartialSuccess | None:
    assert response.status_code == 200, response.content
    assert response.headers["content-type"] == PROTOBUF
    return partial_success(response.content)


def test_a_profile_is_stored_with_its_deployment_and_labels(agent: Client) -> None:
    assert success(send(agent, sample("1.10-values.pb"))) is None
    row = Profile.objects.select_related("deployment", "agent").get()
    assert (row.service, row.type, row.weight) == ("checkout", "CPU", 420_000_000)
    deployment = row.deployment
    assert (deployment.version, deployment.zone, deployment.language) == ("1.4", "eu-1", "java")
    assert row.labels == {"instance": "pod-7", "team": "payments"}
    assert row.agent is not None
    assert row.agent.hostname == "pod-7"


@pytest.mark.parametrize(
    ("version", "revision"),
    [("1.7", "OTLP 1.7 or older"), ("1.9", "OTLP 1.8 or 1.9"), ("1.10", "OTLP 1.10 or newer")],
)
def test_the_response_names_an_older_revision(agent: Client, version: str, revision: str) -> None:
    response = send(agent, sample(f"{version}-values.pb"))
    links = "Links to traces are not stored: 1."
    expected = PartialSuccess(0, f"This message was read as {revision}. {links}")
    assert response.headers["X-Otlp-Dropped-Links"] == "1"
    assert success(response) == (None if version == "1.10" else expected)
    assert response.headers["X-Otlp-Revision"] == revision
    assert Profile.objects.get().weight == 420_000_000


VERSION = "OTLP-Profiles-Development-Version"


def test_version_1_is_accepted(agent: Client) -> None:
    assert success(send(agent, sample("1.10-values.pb"), **{VERSION: "1"})) is None


@pytest.mark.parametrize("versions", [["2"], [""], ["01"], ["1", "1"], ["1,1"]], ids="+".join)
def test_another_version_is_400_before_the_body_is_read(versions: list[str], agent: Client) -> None:
    headers = [("Authorization", f"Bearer {agent.key}"), *((VERSION, each) for each in versions)]

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.post(PATH, content=b"\xff unreadable", headers=headers)

    response = asyncio.run(post())
    assert response.status_code == 400
    code, message, _ = status(response.content)
    assert code == 3
    assert "reads version 1" in message


def test_gzip_is_accepted(agent: Client) -> None:
    body = gzip.compress(sample("1.10-values.pb"))
    assert success(send(agent, body, Content_Encoding="gzip")) is None
    assert Profile.objects.count() == 1


def test_json_is_answered_in_json(agent: Client) -> None:
    response = send(agent, sample("1.10-values.json"), Content_Type=JSON)
    assert (response.status_code, response.json()) == (200, {})
    assert response.headers["content-type"] == JSON
    # A partial success is JSON too.
    response = send(agent, sample("1.7-values.json"), Content_Type=JSON)
    assert response.json() == {
        "partialSuccess": {
            "rejectedProfiles": "0",
            "errorMessage": "This message was read as OTLP 1.7 or older. "
            "Links to traces are not stored: 1.",
        }
    }


def test_both_forms_of_a_message_are_the_same_profile(agent: Client) -> None:
    for form in ("json", "pb", "pb"):
        assert send(agent, sample(f"1.10-values.{form}")).status_code == 200
    assert Profile.objects.count() == 1


@pytest.mark.parametrize("header", ["Authorization", "X-Goog-Api-Key", "X-Api-Key"])
def test_the_key_may_be_in_any_header(agent: Client, header: str) -> None:
    value = f"Bearer {agent.key}" if header == "Authorization" else agent.key
    response = Client(agent.project).request(
        "POST", PATH, content=sample("1.10-values.pb"), headers={header: value}
    )
    assert success(response) is None


def test_processes_are_services_without_a_service_name(agent: Client) -> None:
    assert success(send(agent, sample("1.10-timestamps.pb"))) is None
    rows = {row.service: row for row in Profile.objects.all()}
    assert sorted(rows) == ["nginx", "redis"]
    assert rows["nginx"].weight == 84 * 50_000_000  # two processes


def without_service() -> bytes:
    """Return a message whose resource has no attributes, as async-profiler sends it."""
    whole = message([field(1, 1) + field(4, varint(7))])
    name = field(1, field(1, field(1, b"service.name") + field(2, field(1, b"shop"))))
    assert name in whole
    renamed = name.replace(b"service.name", b"other-label!")
    return whole.replace(name, renamed)


def test_profile_without_a_service_is_rejected_with_the_reason(agent: Client) -> None:
    partial = success(send(agent, without_service()))
    assert partial is not None
    assert partial.rejected == 1
    assert "service.name" in partial.message
    assert "default service for the API key" in partial.message
    assert not Profile.objects.exists()


def test_a_key_may_have_a_default_service(project: Project) -> None:
    _, key = keys.create(project, "ebpf", default_service="batch-jobs")
    assert success(send(Client(project.project_id, key), without_service())) is None
    assert Profile.objects.get().service == "batch-jobs"
    assert success(send(Client(project.project_id, key), sample("1.10-values.pb"))) is None
    assert Deployment.objects.filter(service="checkout").exists()


def test_known_profiles_are_stored_beside_unknown_ones(agent: Client) -> None:
    partial = success(send(agent, sample("1.10-other_types.pb")))
    assert partial is not None
    assert partial.rejected == 1
    assert "Profiles not stored: 1 of 2." in partial.message
    assert "cuda_kernel_exec/nanoseconds" in partial.message
    assert Profile.objects.get().type == "WALL"


def test_samples_left_out_are_named_in_partial_success(agent: Client) -> None:
    bad = field(1, 9) + field(4, varint(1))
    body = message([field(1, 1) + field(4, varint(7)), bad])
    partial = success(send(agent, body))
    assert partial is not None
    assert partial.rejected == 0
    assert "1 sample was left out: Stack index 9 is out of range" in partial.message
    assert Profile.objects.get().weight == 7


def test_profiles_without_a_duration_are_rejected(agent: Client) -> None:
    partial = success(send(agent, message([field(1, 1) + field(4, varint(7))], TIME)))
    assert partial is not None
    assert "duration" in partial.message


def assert_status(
    response: httpx.Response, http: int, code: int, *words: str, retry: bool = False
) -> None:
    assert response.status_code == http, response.content
    assert response.headers["content-type"] == PROTOBUF
    found = status(response.content)
    assert found.code == code
    for word in words:
        assert word in found.message
    assert bool(found.details) is retry


def test_error_response_is_a_google_rpc_status(
    agent: Client, reader: Client, stranger: Client
) -> None:
    body = sample("1.10-values.pb")
    assert_status(send(Client(agent.project), body), 401, 16, "Missing API key")
    assert_status(send(Client(agent.project, "fw_wrong"), body), 401, 16)
    assert_status(send(reader, body), 403, 7, "scope write")
    assert_status(send(agent, b"\x00rubbish"), 400, 3, "Not a message of OTLP profiles")
    assert_status(send(agent, b"\x1f\x8b", Content_Encoding="gzip"), 400, 3, "gzip")
    assert_status(send(agent, body, Content_Encoding="zstd"), 400, 3, "only gzip")
    assert_status(agent.request("GET", PATH), 405, 12, "POST")
    assert not Profile.objects.exists()


def test_errors_of_json_are_json(agent: Client) -> None:
    response = send(agent, b'{"resourceProfiles": 3}', Content_Type=JSON)
    assert response.status_code == 400
    assert response.json() == {"code": 3, "message": "resourceProfiles: must be an object."}


def test_the_former_path_names_the_new_one(agent: Client) -> None:
    response = send(agent, sample("1.10-values.pb"), "/v1experimental/profiles")
    assert_status(response, 400, 3, "/v1development/profiles")


def test_message_over_the_size_limit_is_413(agent: Client, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 500
    body = sample("1.10-values.pb")
    assert_status(send(agent, body), 413, 3, "FLAMEWATCH_MAX_UPLOAD_BYTES allows 500")
    assert_status(send(agent, gzip.compress(b"\0" * 10**6), Content_Encoding="gzip"), 413, 3, "500")


@pytest.mark.usefixtures("stopped_clock")
def test_quota_is_429_only_if_nothing_was_stored(agent: Client, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_minute=1)
    partial = success(send(agent, sample("1.10-timestamps.pb")))
    assert partial is not None
    assert partial.rejected in (1, 2)  # redis is one profile, nginx two
    assert "1 profiles per minute" in partial.message
    response = send(agent, sample("1.10-values.pb"))
    assert_status(response, 429, 8, "profiles per minute", retry=True)
    assert int(response.headers["retry-after"]) > 0


def test_profile_is_stored_in_the_project_of_the_key_only(agent: Client, stranger: Client) -> None:
    send(stranger, sample("1.10-values.pb"))
    (row,) = Profile.objects.select_related("project")
    assert row.project.project_id == stranger.project


def test_instance_is_registered_as_one_agent(agent: Client) -> None:
    for _ in range(2):
        send(agent, sample("1.10-values.pb"), User_Agent="OpenTelemetry Collector/0.162")
    (row,) = Agent.objects.all()
    assert (row.hostname, row.types) == ("pod-7", ["CPU"])


def test_service_that_the_key_may_not_send_is_403_only_if_nothing_was_stored(
    project: Project,
) -> None:
    _, text = keys.create(project, "collector", services=["redis"])
    agent = Client(project.project_id, text)
    assert_status(send(agent, sample("1.10-values.pb")), 403, 7, "redis only, not for checkout")
    partial = success(send(agent, sample("1.10-timestamps.pb")))
    assert partial is not None
    assert "redis only, not for nginx" in partial.message
    assert set(Profile.objects.values_list("service", flat=True)) == {"redis"}


def test_expired_key_is_401(agent: Client, project: Project) -> None:
    keys.change(project.api_keys.get(), services=[], expires=timezone.now())
    assert_status(send(agent, sample("1.10-values.pb")), 401, 16, "expired on")
