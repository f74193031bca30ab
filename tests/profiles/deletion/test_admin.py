"""Deletions in the admin: the operator requests, cancels and restores."""

import pytest
from django.test import Client

from profiles.models import DeletionJob, DeletionState
from projects.models import AuditEntry, Project, User

pytestmark = pytest.mark.django_db
LIST = "/admin/profiles/deletionjob/"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root@example.org", "a sentence works well"))
    return client


def request(client: Client, project: Project, **fields: str) -> str:
    data = {"project": project.pk, "scope": "selection", "project_id": project.project_id}
    response = client.post(f"{LIST}add/", data | fields)
    return "" if response.status_code == 302 else response.content.decode()


def test_operator_deletes_a_selection(operator: Client, project: Project) -> None:
    assert request(operator, project, service="shop", zone="eu") == ""
    job = DeletionJob.objects.get()
    assert (job.project, job.service, job.zone, job.version) == (project, "shop", "eu", None)
    entry = AuditEntry.objects.get(action="deletion.request")
    assert (entry.actor_kind, entry.target) == ("operator", "shop, zone eu")
    page = operator.get(LIST).content.decode()
    assert "Waiting to start" in page
    assert operator.get(f"{LIST}{job.pk}/change/").status_code == 200


def test_wrong_project_id_deletes_nothing(operator: Client, project: Project) -> None:
    assert "This is not the ID" in request(operator, project, project_id="another-shop")
    assert not DeletionJob.objects.exists()


def test_operator_deletes_and_restores_a_project(operator: Client, project: Project) -> None:
    assert request(operator, project, scope="project") == ""
    assert "requested already" in request(operator, project, scope="project")
    project.refresh_from_db()
    assert project.deletion_due is not None
    job = DeletionJob.objects.get()
    operator.post(LIST, {"action": "cancel_deletions", "_selected_action": [job.pk]})
    project.refresh_from_db()
    assert project.deletion_due is None
    assert DeletionJob.objects.get().state == DeletionState.CANCELED


def test_members_do_not_open_it(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(LIST).status_code == 302
