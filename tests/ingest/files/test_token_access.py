"""Import of files with a personal access token in place of an API key."""

from collections.abc import Callable

import httpx
import pytest
from django.utils import timezone

from profiles.models import Profile, ResultSnapshot
from projects.credentials import access_tokens
from projects.models import AuditEntry, Member, Project, Quota, Role, TokenScope, User
from tests.ingest.client import Client, assert_error_response

pytestmark = pytest.mark.django_db(transaction=True)
Send = Callable[..., httpx.Response]


@pytest.fixture
def send(project: Project) -> Send:
    """Return a function that sends a file with a new token of a person."""

    def send(
        user: User, *scopes: TokenScope, project_id: str = project.project_id, **query: str
    ) -> httpx.Response:
        text = access_tokens.create(user, "ci", scopes or (TokenScope.WRITE,), 30)[1]
        return Client(project_id, text).request(
            "POST",
            f"/api/v1/projects/{project_id}/profiles:import",
            content=b"main;work 3",
            params=query or {"service": "shop"},
        )

    return send


def test_token_of_a_member_imports_a_file(send: Send, bob: User, project: Project) -> None:
    response = send(bob)
    assert response.status_code == 200, response.text
    row = Profile.objects.select_related("deployment").get()
    assert (row.deployment.project, row.service) == (project, "shop")


def test_snapshot_names_person_and_token(send: Send, bob: User) -> None:
    assert send(bob, snapshot="incident").status_code == 200
    assert ResultSnapshot.objects.get().title == "incident"
    entry = AuditEntry.objects.filter(action__startswith="snapshot").latest("pk")
    assert entry.actor == bob
    assert entry.actor_key.startswith("fwp_")


def test_token_without_the_scope_is_403(send: Send, alice: User) -> None:
    response = send(alice, TokenScope.READ, TokenScope.MANAGE)
    assert_error_response(response, 403, "PERMISSION_DENIED", "scope write")
    assert not Profile.objects.exists()


def test_token_of_a_viewer_is_403(send: Send, charlie: User, project: Project) -> None:
    Member.objects.create(project=project, user=charlie, role=Role.VIEWER)
    assert_error_response(send(charlie), 403, "PERMISSION_DENIED", "role member")
    assert not Profile.objects.exists()


def test_token_of_a_stranger_and_the_keys_placeholder_are_404(
    send: Send, charlie: User, alice: User
) -> None:
    assert_error_response(send(charlie), 404, "NOT_FOUND")
    assert_error_response(send(alice, project_id="-"), 404, "NOT_FOUND")
    assert_error_response(send(alice, project_id="no-such-project"), 404, "NOT_FOUND")


def test_suspended_project_takes_no_file(send: Send, alice: User, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(
        suspended=timezone.now(), suspension_reason="unpaid"
    )
    assert_error_response(send(alice), 403, "PERMISSION_DENIED", "unpaid")


def test_import_is_charged_to_the_project(send: Send, alice: User, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=1)
    assert send(alice).status_code == 200
    assert_error_response(send(alice), 429, "RESOURCE_EXHAUSTED", "profiles_per_day")
