"""Responses of `…/pgo`: the merged profile that Go's compiler reads, and its headers."""

from typing import Any

import httpx
import pytest

from profiles.engine.pprof.gunzip import gunzip
from profiles.queries import pgo
from projects.credentials import keys
from projects.models import AuditEntry, Deployment, Project
from tests.api.conftest import HOUR
from tests.ingest.client import Client, assert_error_response
from tests.profiles import rows
from tests.profiles.engine.encoding.test_start_lines import CALLS, profile_with
from tests.profiles.pprof_proto import Profile
from tests.profiles.queries.compaction_stages import STAGES, compact_to

pytestmark = pytest.mark.django_db(transaction=True)
MAIN = ("main", 12, 10)


def fetch(
    client: Client, headers: dict[str, str] | None = None, **parameters: Any
) -> httpx.Response:
    params = {"service": "shop", **HOUR, **parameters}
    path = "/api/v1/projects/-/pgo"
    return client.request("GET", path, params=params, headers=headers or {})


def stacks(response: httpx.Response) -> dict[tuple[tuple[str, int], ...], int]:
    """Return the values by stack, root first, of (function, offset of its line from its start)."""
    assert response.status_code == 200, response.text
    message: Any = Profile.FromString(gunzip(response.content, 2**20))
    texts = [text.decode() for text in message.string_table]
    functions = {each.id: each for each in message.function}
    assert [texts[each.type] for each in message.sample_type] == ["cpu"]
    found = {}
    for sample in message.sample:
        lines = [message.location[i - 1].line[0] for i in reversed(sample.location_id)]
        path = tuple(
            (texts[of.name], line.line - of.start_line)
            for line in lines
            for of in (functions[line.function_id],)
        )
        assert path not in found
        found[path] = sample.value[0]
    return found


def store(project: Project, version: str, raw: bytes, minutes: float) -> Deployment:
    of = rows.deployment(project, version=version)
    rows.stored_raw(of, raw, minutes=minutes)
    return of


@pytest.fixture
def versions(project: Project) -> None:
    """Store a profile of each of four versions, 100 to 103 ns, in their order."""
    for number in range(4):
        raw = profile_with(*CALLS, value=100 + number)
        store(project, f"1.{number}", raw, minutes=number)


@pytest.mark.parametrize(
    ("parameters", "expected", "total"),
    [
        ({}, "1.3,1.2,1.1", 306),
        ({"newest": 1}, "1.3", 103),
        ({"newest": 50}, "1.3,1.2,1.1,1.0", 406),
        ({"version": ["1.0", "1.2"]}, "1.0,1.2", 202),
        ({"version": "1.1", "zone": "eu-1"}, "1.1", 101),
    ],
    ids=str,
)
def test_file_has_the_sum_of_the_newest_or_the_named_versions(
    parameters: dict[str, Any], expected: str, total: int, versions: None, reader: Client
) -> None:
    response = fetch(reader, **parameters)
    assert stacks(response) == {(("main", 2), ("work", 4), ("unknown", 7)): total}
    assert response.headers["x-flamewatch-versions"] == expected
    assert response.headers["x-flamewatch-profiles"] == str(len(expected.split(",")))
    assert response.headers["x-flamewatch-coverage"] == "100.0%"
    assert response.headers["content-type"] == "application/octet-stream"


def test_headers_have_the_times_of_the_profiles(versions: None, reader: Client) -> None:
    headers = fetch(reader).headers
    assert headers["x-flamewatch-first"] == "2026-11-20T12:01:00+00:00"
    assert headers["x-flamewatch-last"] == "2026-11-20T12:03:00+00:00"
    assert headers["last-modified"] == "Fri, 20 Nov 2026 12:03:00 GMT"


def test_unchanged_file_is_304_with_its_headers(
    versions: None, project: Project, reader: Client
) -> None:
    first = fetch(reader)
    tag = {"If-None-Match": first.headers["etag"]}
    again = fetch(reader, tag)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-flamewatch-versions"] == first.headers["x-flamewatch-versions"]
    store(project, "1.3", profile_with(*CALLS), minutes=5)
    assert fetch(reader, tag).status_code == 200


@pytest.mark.parametrize("stage", STAGES)
def test_function_that_has_moved_keeps_the_distances_of_its_calls(
    stage: str, project: Project, reader: Client
) -> None:
    """Line 44 is the call at distance 4 in the older version, and the one at 1 in the newer."""
    for number in range(20):
        for version, start in (("old", 40), ("new", 43)):
            raw = profile_with(MAIN, ("work", 44, start), value=number + 1)
            store(project, version, raw, minutes=number * 100 + (version == "new"))
    compact_to(project, stage)
    two_days: dict[str, Any] = {"from": "2026-11-20T12:00:00Z", "to": "2026-11-23T00:00:00Z"}
    response = fetch(reader, **two_days)
    assert stacks(response) == {
        (("main", 2), ("work", 4)): 210,
        (("main", 2), ("work", 1)): 210,
    }


def test_stacks_without_start_lines_are_left_out_and_counted(
    project: Project, versions: None, reader: Client
) -> None:
    of = rows.deployment(project, version="1.3")
    rows.stored(of, {"main;old": 303}, sample_types=(("cpu", "nanoseconds"),), minutes=9)
    response = fetch(reader, version="1.3")
    assert stacks(response) == {(("main", 2), ("work", 4), ("unknown", 7)): 103}
    assert response.headers["x-flamewatch-coverage"] == "25.4%"
    assert response.headers["x-flamewatch-profiles"] == "2"


def test_interruptions_by_the_scheduler_count_for_the_interrupted_function(
    project: Project, reader: Client
) -> None:
    interrupted = (MAIN, ("work", 7, 5))
    preemption = ("runtime.asyncPreempt", 9, 7)
    calls = ((), (preemption,), (preemption, ("runtime.asyncPreempt2", 4, 1)), (("leaf", 3, 1),))
    for number, below in enumerate(calls):
        store(project, "1", profile_with(*interrupted, *below, value=10**number), minutes=number)
    response = fetch(reader)
    assert stacks(response) == {
        (("main", 2), ("work", 2)): 111,
        (("main", 2), ("work", 2), ("leaf", 2)): 1000,
    }
    assert response.headers["x-flamewatch-coverage"] == "100.0%"


def test_service_without_start_lines_gets_an_explanation(shop: Deployment, reader: Client) -> None:
    error = assert_error_response(fetch(reader), 400, "INVALID_ARGUMENT", "None of the 3 profiles")
    assert "start lines" in error["message"]


def test_service_without_profiles_gets_an_explanation(versions: None, reader: Client) -> None:
    response = fetch(reader, service="till")
    assert_error_response(response, 400, "INVALID_ARGUMENT", "till has no CPU profiles")
    response = fetch(reader, span="1h", **{"from": None, "to": None})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "shop has no CPU profiles")


def test_trimmed_file_keeps_all_values(
    project: Project, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("hot", "warm", "cold")):
        raw = profile_with(MAIN, (name, 7, 5), ("leaf", 3, 1), value=100 - 40 * number)
        store(project, "1", raw, minutes=number)
    assert len(stacks(fetch(reader))) == 3
    monkeypatch.setattr(pgo, "MAX_NODES", 4)
    assert stacks(fetch(reader)) == {
        (("main", 2), ("hot", 2), ("leaf", 2)): 100,
        (("main", 2), ("warm", 2)): 60,
        (("main", 2),): 20,
    }


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"service": None}, "service: is missing"),
        ({"type": "HEAP"}, "type: is unknown here"),
        ({"newest": 0}, "newest: "),
        ({"newest": 51}, "newest: "),
        ({"format": "folded"}, "format: "),
    ],
)
def test_bad_parameter_is_named(
    parameters: dict[str, Any], words: str, versions: None, reader: Client
) -> None:
    assert_error_response(fetch(reader, **parameters), 400, "INVALID_ARGUMENT", words)


def test_other_tenants_get_404_and_their_own_nothing(
    versions: None, reader: Client, stranger: Client
) -> None:
    assert "no CPU profiles" in fetch(stranger).json()["error"]["message"]
    path = f"/api/v1/projects/{reader.project}/pgo"
    response = stranger.request("GET", path, params={"service": "shop", **HOUR})
    assert_error_response(response, 404, "NOT_FOUND")


def test_key_of_another_service_gets_403(versions: None, project: Project) -> None:
    _, text = keys.create(project, "till", write=False, read=True, services=["till"])
    response = fetch(Client(project.project_id, text))
    assert_error_response(response, 403, "PERMISSION_DENIED", "till only, not for shop")


def test_download_is_in_the_audit_log(versions: None, project: Project, reader: Client) -> None:
    fetch(reader)
    (entry,) = AuditEntry.objects.filter(project=project, action="profiles.download")
    assert (entry.target, entry.detail["format"], entry.detail["type"]) == ("shop", "pprof", "CPU")
