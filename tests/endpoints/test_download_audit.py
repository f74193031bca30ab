"""Downloads of profiles in the audit log, by people and by API keys."""

import asyncio

import pytest

from endpoints import download_audit
from profiles.queries.context import QueryContext
from profiles.queries.query_record import QueryFacts, QueryRecord
from projects.audit import Origin
from projects.models import ActorKind, AuditEntry, Project, User
from tests.clock import Clock
from tests.frontend.page_browser import Browser, flame, signed_in
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = {"from": "2026-11-20T12:00:00Z", "to": "2026-11-20T13:00:00Z"}


@pytest.fixture(autouse=True)
def shop(project: Project) -> None:
    deployment = rows.deployment(project)
    rows.stored(deployment)
    rows.stored(deployment, minutes=1)


def downloads(project: Project) -> list[AuditEntry]:
    rows = AuditEntry.objects.filter(action=download_audit.ACTION).order_by("pk")
    assert {row.project_id for row in rows} <= {project.pk}
    return list(rows)


def get(project: Project, user: User, page: str, query: str = "") -> int:
    query = f"service=shop&type=CPU&from={HOUR['from']}&to={HOUR['to']}{query}"
    browser = Browser(f"{flame(project)}{page}", signed_in(user), query=query)
    return asyncio.run(browser.get()).status


def test_download_of_a_person_is_in_the_audit_log(project: Project, bob: User) -> None:
    assert get(project, bob, "/download/pprof") == 200
    (entry,) = downloads(project)
    assert (entry.actor, entry.actor_kind, entry.address) == (bob, ActorKind.PERSON, "127.0.0.1")
    assert entry.target == "shop"
    assert entry.detail == {
        "type": "CPU",
        "format": "pprof",
        "profiles": 2,
        "start": "2026-11-20T12:00:00+00:00",
        "end": "2026-11-20T13:00:00+00:00",
    }


def test_pages_and_failed_downloads_add_no_entry(
    project: Project, alice: User, charlie: User
) -> None:
    assert get(project, alice, "") == 200
    assert get(project, alice, "/tree") == 200
    assert get(project, alice, "/download/pprof", "&snapshot=lost") == 400
    assert get(project, alice, "/download/lost") == 404
    assert get(project, charlie, "/download/pprof") == 404
    assert downloads(project) == []


def test_download_with_a_key_is_in_the_audit_log(project: Project, reader: Client) -> None:
    path = "/api/v1/projects/-/tree"
    query = {"service": "shop", "type": "CPU", **HOUR}
    assert reader.request("GET", path, params=query).status_code == 200
    assert downloads(project) == []
    for form in ("pprof", "folded", "pprof"):
        response = reader.request("GET", path, params={**query, "format": form})
        assert response.status_code == 200, response.text
    first, second = downloads(project)
    assert (first.detail["format"], second.detail["format"]) == ("pprof", "folded")
    assert (first.actor_kind, first.actor) == (ActorKind.KEY, None)
    assert first.actor_key.startswith("fw_")
    assert first.address == "127.0.0.1"


def test_list_with_bytes_of_profiles_is_a_download(project: Project, reader: Client) -> None:
    path = f"/v2/projects/{project.project_id}/profiles"
    assert reader.request("GET", path).status_code == 200
    assert downloads(project) == []
    headers = {"x-goog-fieldmask": "profiles.profileBytes"}
    response = reader.request("GET", path, headers=headers)
    assert len(response.json()["profiles"]) == 2, response.text
    (entry,) = downloads(project)
    assert entry.detail["profiles"] == 2


def test_repeated_downloads_are_one_entry_an_hour(
    project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)

    def record(user: User, service: str = "shop") -> None:
        facts = QueryFacts(project_id=project.project_id, download="pprof", services={service})
        context = QueryContext(project.pk, record=QueryRecord(facts=facts))
        download_audit.record_download(context, Origin(), user=user.pk)

    record(alice)
    record(alice)
    record(bob)
    record(alice, "search")
    assert [(row.actor, row.target) for row in downloads(project)] == [
        (alice, "shop"),
        (bob, "shop"),
        (alice, "search"),
    ]
    clock.advance(seconds=download_audit.REPEATED.total_seconds() - 1)
    record(alice)
    assert len(downloads(project)) == 3
    clock.advance(seconds=2)
    record(alice)
    assert len(downloads(project)) == 4
