"""Deletion of profiles and of the project on the page, and restoring the project."""

import re

import pytest
from django.test import Client

from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionSelection
from profiles.models import DeletionJob, DeletionState
from projects.models import Project, User
from tests.profiles import rows
from tests.profiles.deletion.run_jobs import run_to_end

pytestmark = pytest.mark.django_db
PAGE = "/p/acme-shop/settings/data"


@pytest.fixture
def owner(client: Client, project: Project, alice: User) -> Client:
    rows.stored(rows.deployment(project, zone="eu"))
    rows.stored(rows.deployment(project, zone="", version="2"))
    client.force_login(alice)
    return client


def test_selection_is_described_and_counted_before_it_is_confirmed(owner: Client) -> None:
    query = "service=shop&type=CPU&zone=%3Deu&version=%3D1&start=2026-11-20T10:00"
    page = owner.get(f"{PAGE}/profiles?{query}").content.decode()
    described = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page))
    assert "shop · CPU time · Zone eu · Version 1 · From Fri 20 Nov, 10:00:00 UTC" in described
    assert "1 profile" in page
    assert "Type shop to confirm" in page
    assert not DeletionJob.objects.exists()


def test_wrong_name_requests_nothing(owner: Client) -> None:
    response = owner.post(f"{PAGE}/profiles?service=shop", {"name": "shop2"})
    assert response.status_code == 400
    assert "This is not “shop”." in response.content.decode()
    assert not DeletionJob.objects.exists()


def test_confirmed_selection_becomes_a_job(owner: Client, alice: User) -> None:
    query = (
        "service=shop&type=CPU&zone=%3D&version=%3D2&start=2026-11-20T10:00&end=2026-11-21T10:00"
    )
    response = owner.post(f"{PAGE}/profiles?{query}", {"name": "shop"})
    assert response.status_code == 302
    job = DeletionJob.objects.get()
    assert (job.scope, job.service, job.type, job.requested_by) == (
        *("selection", "shop", "CPU"),
        alice,
    )
    assert (job.zone, job.version) == ("", "2")
    assert f"{job.start:%F %T} {job.end:%F %T}" == "2026-11-20 10:00:00 2026-11-21 10:00:00"
    run_to_end(job)
    assert job.profiles == 1


def test_selection_of_all_services_is_confirmed_by_the_project_id(owner: Client) -> None:
    assert owner.post(f"{PAGE}/profiles?type=CPU", {"name": "acme-shop"}).status_code == 302
    assert DeletionJob.objects.get().type == "CPU"


@pytest.mark.parametrize(
    "query", ["service=unknown", "start=never", "start=2026-11-20T10:00&end=2026-11-19T10:00"]
)
def test_invalid_selection_requests_nothing(owner: Client, query: str) -> None:
    assert owner.post(f"{PAGE}/profiles?{query}", {"name": "acme-shop"}).status_code == 400
    assert not DeletionJob.objects.exists()


def test_pending_job_is_canceled(owner: Client, project: Project) -> None:
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    assert "Cancel" in owner.get(PAGE).content.decode()
    owner.post(f"{PAGE}/deletions/{job.pk}/cancel")
    assert DeletionJob.objects.get().state == DeletionState.CANCELED


def test_list_is_requested_again_until_all_jobs_have_ended(owner: Client, project: Project) -> None:
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    assert "every 5s" in owner.get(f"{PAGE}/deletions").content.decode()
    run_to_end(job)
    page = owner.get(f"{PAGE}/deletions").content.decode()
    assert "every 5s" not in page
    assert "Done" in page
    assert ">shop<" in page


def test_job_of_another_project_is_not_canceled(
    owner: Client, project: Project, shop_of_bob: Project
) -> None:
    job = jobs.request_deletion(shop_of_bob, DeletionSelection("shop"), actor=None)
    assert owner.post(f"{PAGE}/deletions/{job.pk}/cancel").status_code == 404
    assert DeletionJob.objects.get().state == DeletionState.PENDING


def test_deleted_project_is_hidden_and_restored(owner: Client) -> None:
    response = owner.post(f"{PAGE}/project", {"name": "acme-shop"}, follow=True)
    assert "Restore project" in response.content.decode()
    assert owner.get(PAGE).status_code == 404
    restored = owner.post("/projects/deleted/acme-shop/restore")
    assert restored.status_code == 302
    assert owner.get(PAGE).status_code == 200


def test_admin_of_a_deleted_project_can_not_restore_it(
    owner: Client, client: Client, bob: User
) -> None:
    bob.memberships.update(role="admin")
    owner.post(f"{PAGE}/project", {"name": "acme-shop"})
    client.force_login(bob)
    assert client.post("/projects/deleted/acme-shop/restore").status_code == 404
    assert "acme-shop" not in client.get("/projects/deleted").content.decode()
