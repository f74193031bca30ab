"""`POST /ingest` in each of its formats, its errors and its authentication."""

import gzip
import time

import orjson
import pytest
from django.utils import timezone
from pytest_django import Settings

from ingest.pyroscope.multipart import MAX_PARTS
from profiles.models import Profile, TimeSource
from projects.credentials import keys
from projects.models import Project, Quota
from tests.ingest import pprof
from tests.ingest.client import Client, assert_error_response
from tests.ingest.pyroscope.client import PyroscopeClient, basic, multipart

pytestmark = pytest.mark.django_db(transaction=True)

FOLDED = b"main;work 3\nmain;wait 1\n"
# main (0, 1 child) and its child work (3)
TREE = b"\x00\x00\x01\x04main\x00\x01\x04work\x03\x00"
TRIE = b"\x00\x00\x01\x05main;\x00\x02\x04work\x03\x00\x04wait\x01\x00"
HEAP = (
    *(("alloc_objects", "count"), ("alloc_space", "bytes")),
    *(("inuse_objects", "count"), ("inuse_space", "bytes")),
)


def totals() -> dict[str, dict[str, int]]:
    """Return the totals of the stored profiles, by type and metric."""
    rows = Profile.objects.values_list("type", "totals")
    return {type_: {name: total for name, _, total in found} for type_, found in rows}


# -- formats ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["folded", "groups", None])
def test_folded_stacks_are_samples_of_cpu_time(format: str | None, client: PyroscopeClient) -> None:
    response = client.ingest(FOLDED, format=format, sampleRate=50)
    assert response.status_code == 200, response.text
    row = Profile.objects.get()
    name = f"projects/{client.agent.project}/profiles/{row.name_id}"
    assert response.json() == {"profiles": [{"name": name, "profileType": "CPU", "warnings": []}]}
    assert totals() == {"CPU": {"samples": 4, "cpu": 80_000_000}}
    assert row.service == "shop"


def test_each_line_counts_as_one_sample(client: PyroscopeClient) -> None:
    client.ingest(b"main;work\nmain;work\nmain\n", format="lines")
    assert totals() == {"CPU": {"samples": 3, "cpu": 30_000_000}}


@pytest.mark.parametrize(
    ("body", "format", "content_type"),
    [
        (TRIE, "trie", "text/plain"),
        (TRIE, None, "binary/octet-stream+trie"),
        (TREE, "tree", "text/plain"),
        (TREE, None, "binary/octet-stream+tree"),
    ],
)
def test_trie_and_tree_are_stored_by_format_or_content_type(
    body: bytes, format: str | None, content_type: str, client: PyroscopeClient
) -> None:
    response = client.ingest(body, {"Content-Type": content_type}, format=format)
    assert response.status_code == 200, response.text
    assert totals()["CPU"]["samples"] == (4 if body == TRIE else 3)


def test_speedscope_is_stored(client: PyroscopeClient) -> None:
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "main"}, {"name": "work"}]},
        "profiles": [
            {
                "type": "sampled",
                "name": "CPU",
                "unit": "milliseconds",
                "startValue": 0,
                "endValue": 5,
                "samples": [[0, 1]],
                "weights": [5],
            }
        ],
    }
    assert client.ingest(orjson.dumps(document), format="speedscope").status_code == 200
    assert totals() == {"CPU": {"cpu": 5_000_000}}


def test_pprof_of_several_types_is_stored_as_each(client: PyroscopeClient) -> None:
    body = pprof.profile({("main",): (1, 10, 2, 20)}, HEAP)
    assert client.ingest(body, format="pprof").status_code == 200
    assert totals() == {
        "HEAP_ALLOC": {"alloc_objects": 1, "alloc_space": 10},
        "HEAP": {"inuse_objects": 2, "inuse_space": 20},
    }


def test_gzip_body_is_accepted_with_and_without_content_encoding(client: PyroscopeClient) -> None:
    body = gzip.compress(FOLDED)
    assert client.ingest(body, {"Content-Encoding": "gzip"}).status_code == 200
    assert client.ingest(body).status_code == 200
    assert Profile.objects.count() == 1


def test_displayed_names_tell_mutexes_from_blocking(client: PyroscopeClient) -> None:
    types = (("contentions", "count"), ("delay", "nanoseconds"))
    for kind in ("mutex", "block"):
        config = {"contentions": {"display-name": f"{kind}_count", "units": "lock_samples"}}
        parts = {
            "profile": pprof.profile({(kind,): (1, 10)}, types),
            "sample_type_config": orjson.dumps(config),
        }
        assert client.multipart(parts).status_code == 200
    labels = Profile.objects.filter(type="CONTENTION").values_list("labels", flat=True)
    assert sorted(label["contention"] for label in labels) == ["block", "mutex"]


def test_a_body_without_stacks_stores_nothing(client: PyroscopeClient) -> None:
    response = client.ingest(b"")
    assert (response.status_code, response.json()) == (200, {"profiles": []})
    assert not Profile.objects.exists()


def test_bad_lines_are_reported(client: PyroscopeClient) -> None:
    response = client.ingest(b"main 1\nwithout a count\n")
    assert "without a count" in response.json()["profiles"][0]["warnings"][0]
    assert totals()["CPU"]["samples"] == 1


# -- what the parameters say --------------------------------------------------------------


def test_labels_of_the_name_become_deployment_and_labels(client: PyroscopeClient) -> None:
    name = "shop.web.cpu{version=1.4+b,region=eu/west 1,hostname=pod-1,team.name=a b,__x__=1}"
    client.ingest(FOLDED, name=name, spyName="rbspy")
    row = Profile.objects.select_related("deployment").get()
    found = row.deployment
    assert (found.service, found.version, found.zone) == ("shop.web", "1.4+b", "eu/west 1")
    assert found.language == "ruby"
    assert row.labels == {"instance": "pod-1", "team-name": "a b"}


@pytest.mark.parametrize(
    ("name", "query", "expected"),
    [
        ("shop.wall", {}, {"WALL": {"sample": 4, "wall": 40_000_000}}),
        ("shop.itimer", {}, {"CPU": {"samples": 4, "cpu": 40_000_000}}),
        ("shop.alloc_space", {}, {"HEAP_ALLOC": {"alloc_space": 4}}),
        ("shop.inuse_objects", {}, {"HEAP": {"inuse_objects": 4}}),
        ("shop.goroutines", {}, {"THREADS": {"goroutine": 4}}),
        ("shop.mutex_duration", {}, {"CONTENTION": {"delay": 4}}),
        ("shop", {"units": "bytes"}, {"HEAP_ALLOC": {"alloc_space": 4}}),
        (
            "shop",
            {"units": "objects", "aggregationType": "average"},
            {"HEAP": {"inuse_objects": 4}},
        ),
        ("shop", {"units": "lock_samples"}, {"CONTENTION": {"contentions": 4}}),
        ("shop.other", {"units": "samples"}, {"CPU": {"samples": 4, "cpu": 40_000_000}}),
    ],
)
def test_suffix_and_units_choose_the_type(
    name: str, query: dict[str, str], expected: dict[str, dict[str, int]], client: PyroscopeClient
) -> None:
    assert client.ingest(FOLDED, name=name, **query).status_code == 200
    assert totals() == expected
    assert Profile.objects.get().service == ("shop.other" if "other" in name else "shop")


@pytest.mark.parametrize("factor", [1, 10**3, 10**6, 10**9])
def test_times_are_seconds_or_parts_of_them(factor: int, client: PyroscopeClient) -> None:
    start = int(time.time()) - 3600
    client.ingest(FOLDED, **{"from": start * factor, "until": (start + 15) * factor})
    row = Profile.objects.get()
    assert (row.time.timestamp(), row.time_source) == (start, TimeSource.PROFILE)
    assert row.duration_ns == 15 * 10**9


def test_a_profile_without_times_counts_as_ten_seconds(client: PyroscopeClient) -> None:
    client.ingest(FOLDED, **{"from": None, "until": None})
    row = Profile.objects.get()
    assert (row.duration_ns, row.time_source) == (10 * 10**9, TimeSource.ARRIVAL)


def test_a_pprof_time_at_the_end_is_not_taken_for_the_start(client: PyroscopeClient) -> None:
    start = int(time.time()) - 3600
    body = pprof.profile({("main",): (1, 5)}, time_ns=(start + 60) * 10**9)
    client.ingest(body, format="pprof", **{"from": start, "until": start + 60})
    assert Profile.objects.get().time.timestamp() == start


def test_repeated_upload_is_stored_once(client: PyroscopeClient) -> None:
    names = [client.ingest(FOLDED).json()["profiles"][0]["name"] for _ in range(2)]
    assert names[0] == names[1]
    client.ingest(FOLDED, **{"from": 2, "until": 12})
    assert Profile.objects.count() == 2


# -- authentication -----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["basic", "bearer", "parameter"])
def test_key_is_accepted_as_password_bearer_token_or_parameter(
    form: str, client: PyroscopeClient
) -> None:
    key = client.agent.key
    authorization = {"basic": basic("anybody", key), "bearer": f"Bearer {key}", "parameter": ""}
    query = {"key": key} if form == "parameter" else {}
    headers = {"Authorization": authorization[form], "X-Scope-OrgID": "of-another"}
    assert client.ingest(FOLDED, headers, **query).status_code == 200
    assert Profile.objects.get().project.project_id == client.agent.project


@pytest.mark.parametrize(
    ("authorization", "words"),
    [
        ("", "Missing API key"),
        ("Basic !!!", "Missing API key"),
        (basic("shop", ""), "Missing API key"),
        (basic("shop", "secret"), "not valid"),
        (basic("shop", "fw_wrong"), "not valid"),
        ("Bearer fw_wrong", "not valid"),
    ],
)
def test_a_bad_key_is_401(authorization: str, words: str, client: PyroscopeClient) -> None:
    response = client.ingest(FOLDED, {"Authorization": authorization})
    assert_error_response(response, 401, "UNAUTHENTICATED", words)


def test_a_key_that_may_only_read_is_403(reader: Client) -> None:
    assert_error_response(PyroscopeClient(reader).ingest(FOLDED), 403, "PERMISSION_DENIED")


def test_tenant_header_gives_no_access_to_another_project(
    stranger: Client, project: Project, client: PyroscopeClient
) -> None:
    other = PyroscopeClient(stranger)
    assert other.ingest(FOLDED, {"X-Scope-OrgID": project.project_id}).status_code == 200
    assert not Profile.objects.filter(project=project).exists()


# -- errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"name": None}, "name: "),
        ({"name": "{a=b}"}, "name: "),
        ({"name": "shop{region}"}, "name: "),
        ({"name": "///"}, "labels: "),
        ({"format": "xml"}, "format: "),
        ({"from": "yesterday"}, "from: "),
        ({"until": "1" * 30}, "until: "),
        ({"sampleRate": "-1"}, "sampleRate: "),
        ({"sampleRate": "10000000000"}, "sampleRate: "),
        ({"name": "shop.exceptions"}, "exceptions"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_400_and_named(
    query: dict[str, str | None], field: str, client: PyroscopeClient
) -> None:
    response = client.ingest(FOLDED, **query)
    assert_error_response(response, 400, "INVALID_ARGUMENT", field)
    assert not Profile.objects.exists()


@pytest.mark.parametrize(
    ("body", "format", "words"),
    [
        (b"no counts here", "folded", "no count"),
        (TRIE[:-3], "trie", "incomplete"),
        (TREE[:-3], "tree", "incomplete"),
        (b"\xff" * 20, "tree", "64 bits"),
        (b"", "pprof", "empty"),
        (b"nonsense", "pprof", ""),
        (pprof.profile({("main",): (1,)}, [("exception", "count")]), "pprof", "exception"),
        (b"nonsense", "jfr", "JFR"),
        (b"{}", "speedscope", "speedscope"),
        (b"\x1f\x8b nonsense", "folded", "gzip"),
    ],
)
def test_a_body_that_cannot_be_read_is_400(
    body: bytes, format: str, words: str, client: PyroscopeClient
) -> None:
    response = client.ingest(body, format=format)
    assert_error_response(response, 400, "INVALID_ARGUMENT", words)
    assert not Profile.objects.exists()


@pytest.mark.parametrize(
    ("parts", "format", "words"),
    [
        ({"other": b""}, "pprof", "no part profile"),
        ({"profile": b""}, "jfr", "no part jfr"),
        ({"profile": pprof.SIMPLE, "prev_profile": pprof.SIMPLE}, "pprof", "prev_profile"),
        ({"profile": pprof.SIMPLE, "sample_type_config": b"{"}, "pprof", "sample_type_config"),
        ({"profile": pprof.SIMPLE, "sample_type_config": b"[]"}, "pprof", "sample_type_config"),
        ({str(i): b"" for i in range(MAX_PARTS + 1)}, "pprof", "parts"),
    ],
)
def test_parts_that_cannot_be_used_are_400(
    parts: dict[str, bytes], format: str, words: str, client: PyroscopeClient
) -> None:
    response = client.multipart(parts, format=format)
    assert_error_response(response, 400, "INVALID_ARGUMENT", words)


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_a_wrong_boundary_is_400(content_type: str, client: PyroscopeClient) -> None:
    body, _ = multipart({"profile": pprof.SIMPLE})
    response = client.ingest(body, {"Content-Type": content_type})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "oundary")


def test_a_body_over_the_limit_is_413(client: PyroscopeClient, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = client.ingest(FOLDED)
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_UPLOAD_BYTES")


def test_a_profile_that_unpacks_over_the_limit_is_413(
    client: PyroscopeClient, settings: Settings
) -> None:
    settings.MAX_PROFILE_BYTES = 50
    response = client.ingest(pprof.SIMPLE, format="pprof")
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "FLAMEWATCH_MAX_PROFILE_BYTES")


def test_a_project_over_its_quota_is_429(client: PyroscopeClient, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=1)
    assert client.ingest(FOLDED).status_code == 200
    response = client.ingest(b"main 2\n")
    assert_error_response(response, 429, "RESOURCE_EXHAUSTED", "profiles_per_day")
    assert "Retry-After" in response.headers


def test_another_method_is_405(client: PyroscopeClient) -> None:
    response = client.agent.request("GET", "/ingest?name=shop")
    assert_error_response(response, 405, "UNIMPLEMENTED", "POST")


def test_service_that_the_key_may_not_send_is_403(project: Project) -> None:
    _, text = keys.create(project, "ci", services=["till"])
    client = PyroscopeClient(Client(project.project_id, text))
    assert_error_response(
        client.ingest(FOLDED), 403, "PERMISSION_DENIED", "till only, not for shop"
    )
    assert client.ingest(FOLDED, name="till").status_code == 200


def test_expired_key_is_401(client: PyroscopeClient, project: Project) -> None:
    keys.change(project.api_keys.get(), services=[], expires=timezone.now())
    assert_error_response(client.ingest(FOLDED), 401, "UNAUTHENTICATED", "expired on")
