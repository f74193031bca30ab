"""Import of files with a session of the console in place of an API key."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client as Browser

from profiles.models import Profile
from projects.models import Member, Project, Role, User
from tests.ingest.client import Client, assert_error_response

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "a" * 32
Send = Callable[..., httpx.Response]


@pytest.fixture
def send(project: Project) -> Send:
    """Return a function that sends a file as the console's form does."""

    def send(
        user: User, token: str = TOKEN, project_id: str = "", **headers: Any
    ) -> httpx.Response:
        browser = Browser()
        browser.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
        session = browser.cookies[settings.SESSION_COOKIE_NAME].value
        cookies = f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={TOKEN}"
        return Client(project.project_id).request(
            "POST",
            f"/api/v1/projects/{project_id or project.project_id}/profiles:import",
            content=b"main;work 3",
            params={"service": "shop"},
            headers={"Cookie": cookies, "X-CSRFToken": token} | headers,
        )

    return send


def test_a_member_needs_no_key(send: Send, alice: User, project: Project) -> None:
    response = send(alice)
    assert response.status_code == 200, response.text
    row = Profile.objects.select_related("deployment").get()
    assert (row.deployment.project, row.service) == (project, "shop")


def test_a_request_without_the_csrf_token_is_403(send: Send, alice: User) -> None:
    for token in ("", "b" * 32):
        assert_error_response(send(alice, token), 403, "PERMISSION_DENIED", "CSRF token")
    assert not Profile.objects.exists()


def test_a_request_of_another_site_is_403(send: Send, alice: User) -> None:
    response = send(alice, Origin="https://attacker.example.org")
    assert_error_response(response, 403, "PERMISSION_DENIED", "CSRF token")


def test_people_who_are_not_members_get_404(send: Send, charlie: User) -> None:
    assert_error_response(send(charlie), 404, "NOT_FOUND", "not a member")


def test_the_placeholder_for_the_keys_project_is_404(send: Send, alice: User) -> None:
    assert_error_response(send(alice, project_id="-"), 404, "NOT_FOUND", "not a member")


def test_viewers_get_403(send: Send, charlie: User, project: Project) -> None:
    Member.objects.create(project=project, user=charlie, role=Role.VIEWER)
    assert_error_response(send(charlie), 403, "PERMISSION_DENIED", "role member or higher")


def test_an_ended_session_is_404(project: Project) -> None:
    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}=x; csrftoken={TOKEN}"}
    response = Client(project.project_id).request(
        "POST",
        f"/api/v1/projects/{project.project_id}/profiles:import?service=shop",
        content=b"main 1",
        headers=headers | {"X-CSRFToken": TOKEN},
    )
    assert_error_response(response, 404, "NOT_FOUND", "not a member")


def test_an_invalid_key_is_401_even_with_a_session(send: Send, alice: User) -> None:
    response = send(alice, Authorization="Bearer fw_wrong")
    assert_error_response(response, 401, "UNAUTHENTICATED")
