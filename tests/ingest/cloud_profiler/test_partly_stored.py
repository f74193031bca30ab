"""Uploads with invalid parts: stored without these, with a warning in the response."""

import pytest

from common import write_behind
from profiles.models import Profile
from projects.models import AgentReport
from tests.ingest.client import Client, assert_error_response
from tests.profiles.engine.pprof.test_samples import raw
from tests.profiles.pprofs import upload

pytestmark = pytest.mark.django_db(transaction=True)
EPOCH_NS = 1_700_000_000 * 10**9


def test_a_difference_of_heaps_is_stored_without_what_is_in_use(agent: Client) -> None:
    responses = [agent.offline(raw("go-heap-delta"), profileType="HEAP") for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 200], responses[0].text
    warnings = responses[0].json()["warnings"]
    assert [warning.split()[0] for warning in warnings] == ["inuse_objects", "inuse_space"]
    assert responses[1].json() == responses[0].json()
    names = [name for name, _, _ in Profile.objects.get().totals]
    assert names == ["alloc_space", "alloc_objects"]
    write_behind.write_now()
    report = AgentReport.objects.get()
    assert report.warning == " ".join(warnings)[:255]
    assert report.warned_at is not None
    assert report.rejected == 0


def test_a_profile_stored_in_full_has_no_warnings(agent: Client) -> None:
    assert "warnings" not in agent.offline().json()


def test_impossible_duration_is_replaced_by_that_of_the_request(agent: Client) -> None:
    body = upload(duration_nanos=EPOCH_NS)
    assert agent.offline(body).json()["duration"] == "10s"
    response = agent.offline(body, duration=None)
    assert_error_response(
        response,
        400,
        "INVALID_ARGUMENT",
        f"duration_nanos of the profile is {EPOCH_NS}",
        "86400000000000 ns (24 h)",
    )


def test_an_assigned_capture_has_the_scheduled_duration(agent: Client) -> None:
    name = agent.captured_request()["name"]
    response = agent.upload(name, upload(duration_nanos=EPOCH_NS), duration="100000s")
    assert response.json()["duration"] == "10s"


def test_legacy_profile_is_400_with_the_command_that_converts_it(agent: Client) -> None:
    response = agent.offline(b"heap profile: 1: 2 [3: 4] @ heap/512\n", profileType="HEAP")
    assert_error_response(
        response, 400, "INVALID_ARGUMENT", "go tool pprof -proto FILE > out.pb.gz"
    )
