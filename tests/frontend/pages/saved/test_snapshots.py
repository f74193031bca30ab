"""Snapshots: stored results, shown on the flame page and compared with live profiles."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from profiles import retention
from profiles.compaction.blob_sweep import DEAD_FOR, UNKNOWN_FOR, sweep
from profiles.models import Blob, Profile, ResultSnapshot
from profiles.storage.blob_store import blobs
from projects.models import AuditEntry, DayUsage, Member, Project, Quota, Role, User
from projects.usage import limits
from tests.frontend import shop
from tests.frontend.html import render_html

P = "/p/acme-shop"
ADDRESS = f"{P}/flame?service=checkout&type=CPU&span=1h&f=hide:json.dumps&seen=3-4"
SNAPSHOTS = f"{P}/snapshots"


@pytest.fixture
def alices(client: Client, alice: User, project: Project) -> Client:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3))
    client.force_login(alice)
    return client


def take(client: Client, title: str = "Before the fix", address: str = ADDRESS) -> str:
    """Take a snapshot and return its address."""
    response = client.post(SNAPSHOTS, {"title": title, "address": address})
    assert response.status_code == 302, render_html(response)
    return response.headers["Location"]


def tree(client: Client, query: str) -> dict[str, object]:
    response = client.get(f"{P}/flame/tree?{query}")
    assert response.status_code == 200, response.content
    document: dict[str, object] = json.loads(gzip.decompress(response.content))
    return document


def without_profiles(project: Project) -> None:
    """Let retention delete everything."""
    later = timezone.now() + timedelta(days=60)
    retention.retain(project.pk, later)
    sweep(later)
    sweep(later + DEAD_FOR + UNKNOWN_FOR)
    assert not Profile.objects.exists()


def test_snapshot_keeps_its_result_after_its_profiles_are_deleted(
    alices: Client, project: Project
) -> None:
    query = "service=checkout&type=CPU&span=1h"
    before = tree(alices, query)
    url = take(alices)
    without_profiles(project)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    after = tree(alices, f"{query}&snapshot={snapshot}")
    for name in ("metric", "profiles", "total", "duration_s", "depth", "name", "self", "names"):
        assert after.get(name) == before.get(name), name
    assert after["profiles"] == 3
    page = render_html(alices.get(url))
    assert "Before the fix" in page
    assert "3 profiles" in page


def test_url_of_a_snapshot_has_the_view_but_not_the_selection(alices: Client) -> None:
    url = urlsplit(take(alices))
    snapshot = ResultSnapshot.objects.get()
    assert parse_qs(url.query) == {"f": ["hide:json.dumps"], "snapshot": [snapshot.snapshot_id]}
    stored = parse_qs(snapshot.query)
    assert stored["service"] == ["checkout"]
    assert "end" in stored
    assert "seen" not in stored


def test_filters_and_views_apply_to_a_snapshot(alices: Client, project: Project) -> None:
    take(alices)
    without_profiles(project)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    for view in ("view=bottomup", "focus=pricing.quote", "f=show:pricing", "view=list"):
        page = render_html(alices.get(f"{P}/flame?snapshot={snapshot}&{view}"))
        assert "pricing.quote" in page, view
    page = render_html(alices.get(f"{P}/flame?snapshot={snapshot}&f=hide:pricing"))
    assert "pricing.quote" not in page.split('id="functions"')[1]


@pytest.mark.parametrize("form", ["pprof", "folded", "speedscope", "csv"])
def test_download_of_a_snapshot_equals_that_of_its_selection(
    alices: Client, project: Project, form: str
) -> None:
    end = timezone.now()
    query = f"service=checkout&type=CPU&from={end - timedelta(hours=1):%FT%TZ}&to={end:%FT%TZ}"
    before = alices.get(f"{P}/flame/download/{form}?{query}").content
    take(alices, address=f"{P}/flame?{query}")
    without_profiles(project)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    after = alices.get(f"{P}/flame/download/{form}?{query}&snapshot={snapshot}").content
    if form == "pprof":  # its time is that of the first profile, or of the range
        assert len(gzip.decompress(after)) == pytest.approx(len(gzip.decompress(before)), abs=8)
    else:
        assert after == before


def test_snapshot_keeps_lines(alices: Client, project: Project) -> None:
    take(alices)
    without_profiles(project)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    query = "service=checkout&type=CPU&name=pricing.quote&file=/app/shop/pricing/quote.py"
    page = render_html(alices.get(f"{P}/flame/lines?{query}&snapshot={snapshot}"))
    assert "quote.py" in page


def test_snapshot_is_compared_with_live_profiles(alices: Client, project: Project) -> None:
    take(alices)
    shop.send(
        shop.deployment(project, version="2.32.0"),
        shop.minutes_before(timezone.now() - timedelta(seconds=5), 2),
        {(shop.QUOTE,): 1_000_000},
    )
    snapshot = ResultSnapshot.objects.get().snapshot_id
    query = f"service=checkout&type=CPU&span=1h&snapshot={snapshot}&b.snapshot="
    page = render_html(alices.get(f"{P}/compare?{query}"))
    assert "a snapshot has the sums of its profiles only" in page
    assert "Before the fix" in page
    assert "3 profiles" in page
    assert "5 profiles" in page
    response = alices.get(f"{P}/compare/tree?{query}")
    document = json.loads(gzip.decompress(response.content))
    assert (document["profiles"], document["b"]["profiles"]) == (3, 5)
    swap_sides = render_html(
        alices.get(f"{P}/compare?service=checkout&type=CPU&b.snapshot={snapshot}")
    )
    assert "3 profiles" in swap_sides
    assert "5 profiles" in swap_sides


def test_a_snapshot_names_the_labels_that_its_profiles_lack(alices: Client) -> None:
    url = take(alices, address=f"{P}/flame?service=checkout&type=CPU&unset=label.region")
    assert "unset" not in url
    assert "CPU time, region (not set)" in render_html(alices.get(url))


def test_a_snapshot_offers_the_services_to_compare_with(alices: Client) -> None:
    page = render_html(alices.get(take(alices)))
    snapshot = ResultSnapshot.objects.get().snapshot_id
    assert f"snapshot={snapshot}&amp;b.snapshot=" in page
    assert "checkout, last day" in page


def test_snapshot_parameter_is_ignored_by_other_pages(alices: Client) -> None:
    take(alices)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    query = f"service=checkout&type=CPU&end={timezone.now():%FT%TZ}"
    for path in ("history/csv", "profiles/csv"):
        plain = alices.get(f"{P}/{path}?{query}").content
        assert alices.get(f"{P}/{path}?{query}&snapshot={snapshot}").content == plain
        assert plain.count(b"\n") > 3


def test_bytes_of_a_snapshot_count_as_stored_until_its_deletion(
    alices: Client, project: Project
) -> None:
    before = DayUsage.objects.get().stored_bytes
    take(alices)
    snapshot = ResultSnapshot.objects.get()
    size = snapshot.blob.size
    assert size == len(blobs().get(snapshot.blob.key))
    assert DayUsage.objects.get().stored_bytes == before + size
    alices.post(f"{SNAPSHOTS}/{snapshot.snapshot_id}/delete")
    assert DayUsage.objects.get().stored_bytes == before
    assert not ResultSnapshot.objects.exists()
    sweep(timezone.now() + DEAD_FOR + timedelta(minutes=1))
    assert not Blob.objects.exists()
    assert [*blobs().list()] == []


def test_project_over_its_stored_bytes_creates_no_snapshot(
    alices: Client, project: Project
) -> None:
    Quota.objects.create(project=project, stored_bytes=1)
    limits.forget(project.pk)
    response = alices.post(SNAPSHOTS, {"title": "x", "address": ADDRESS}, follow=True)
    assert "stored_bytes" in render_html(response)
    assert [*blobs().list()] == []


@pytest.mark.parametrize(
    ("name", "value"), [("MAX_SNAPSHOTS_PER_PROJECT", 1), ("MAX_SNAPSHOT_BYTES_PER_PROJECT", 1000)]
)
def test_number_and_bytes_are_limited(
    alices: Client, settings: Settings, name: str, value: int
) -> None:
    setattr(settings, name, value)
    for _ in range(3):
        response = alices.post(SNAPSHOTS, {"title": "x", "address": ADDRESS}, follow=True)
    assert f"FLAMEWATCH_{name}" in render_html(response)
    assert ResultSnapshot.objects.count() <= 1


def test_an_empty_selection_is_not_stored(alices: Client) -> None:
    address = f"{P}/flame?service=checkout&type=CPU&end=2026-01-01T00:00:00Z"
    response = alices.post(
        SNAPSHOTS, {"title": "x", "address": address}, headers={"HX-Request": "true"}
    )
    assert "There are no profiles in this selection." in render_html(response)
    assert not ResultSnapshot.objects.exists()


def test_snapshot_of_another_project_is_404(
    alices: Client, charlie: User, other_project: Project
) -> None:
    take(alices)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    alices.force_login(charlie)
    other = f"/p/{other_project.project_id}"
    shop.send(shop.deployment(other_project), shop.minutes_before(timezone.now(), 1))
    query = f"service=checkout&type=CPU&snapshot={snapshot}"
    assert alices.get(f"{other}/flame?{query}").status_code == 404
    assert alices.get(f"{other}/compare?{query}").status_code == 404
    assert alices.get(f"{other}/compare?service=checkout&b.snapshot={snapshot}").status_code == 404
    for path in (
        *("flame/tree", "flame/functions", "flame/download/pprof", "flame/download/folded"),
        *("compare/tree", "compare/csv"),
    ):
        response = alices.get(f"{other}/{path}?{query}")
        assert response.status_code in {400, 404}, path
        assert b"snapshot" in response.content
    lines = alices.get(f"{other}/flame/lines?{query}&name=pricing.quote&file=")
    assert b"pricing" not in lines.content or lines.status_code in {400, 404}
    assert alices.post(f"{other}/snapshots/{snapshot}/delete").status_code == 404
    assert ResultSnapshot.objects.exists()


def test_only_the_creator_and_owners_delete_a_snapshot(alices: Client, bob: User) -> None:
    take(alices)
    snapshot = ResultSnapshot.objects.get().snapshot_id
    alices.force_login(bob)
    assert alices.post(f"{SNAPSHOTS}/{snapshot}/delete").status_code == 403
    take(alices, "bob's")
    mine = ResultSnapshot.objects.get(created_by=bob).snapshot_id
    assert alices.post(f"{SNAPSHOTS}/{mine}/delete").status_code == 302
    actions = AuditEntry.objects.filter(action__startswith="snapshot.").order_by("pk")
    assert [(each.action, each.actor == bob) for each in actions] == [
        ("snapshot.create", False),
        ("snapshot.create", True),
        ("snapshot.delete", True),
    ]


def test_viewer_opens_snapshots_and_creates_none(alices: Client, project: Project) -> None:
    url = take(alices)
    vera = User.objects.create_user("vera@example.org", "a sentence works well")
    Member.objects.create(project=project, user=vera, role=Role.VIEWER)
    alices.force_login(vera)
    assert alices.get(url).status_code == 200
    assert alices.post(SNAPSHOTS, {"title": "x", "address": ADDRESS}).status_code == 403


def test_snapshots_are_deleted_with_the_project(alices: Client, project: Project) -> None:
    take(alices)
    project.delete()
    assert not ResultSnapshot.objects.exists()
    assert not Blob.objects.exists()
    sweep(datetime.now(UTC) + UNKNOWN_FOR + timedelta(hours=1))
    assert [*blobs().list()] == []


def test_damaged_snapshot_is_400_with_the_reason(alices: Client) -> None:
    url = take(alices)
    snapshot = ResultSnapshot.objects.get()
    blobs().put(snapshot.blob.key, b"x" * snapshot.blob.size)
    from profiles.queries.cache import result_cache

    result_cache().clear()
    query = f"service=checkout&type=CPU&snapshot={snapshot.snapshot_id}"
    response = alices.get(f"{P}/flame/tree?{query}")
    assert response.status_code == 400
    assert "cannot be read" in response.json()["error"]
    assert "cannot be read" in render_html(alices.get(url))
