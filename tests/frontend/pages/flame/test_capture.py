"""POST `/p/<project>/capture`, by which a user requests a profile at once."""

from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import Member, Project, Role, User
from projects.profile_types import ProfileType
from scheduler import capture_now
from scheduler.capture_requests import CaptureRequest, RequestOrigin
from tests.frontend import shop

PARAMS = {"service": "checkout", "type": "CPU"}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def url(project: Project) -> str:
    shop.deployment(project)
    return reverse("flame_capture", args=[project.project_id])


def pending_capture(waiting: int) -> capture_now.PendingCapture:
    capture_request = CaptureRequest("one", 1, 1, ProfileType.CPU, 0.0, RequestOrigin.PERSON)
    return capture_now.PendingCapture(capture_request, waiting)


def test_it_says_when_the_profile_will_be_here(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    with patch("scheduler.capture_now.request_capture", return_value=pending_capture(2)) as ask:
        text = client.post(url, PARAMS, headers=HTMX).content.decode()
    assert "Requested a CPU time profile of checkout. 2 agents are waiting" in text
    assert ask.call_args.kwargs["actor"] == bob


def test_it_says_that_no_agent_is_free(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    with patch("scheduler.capture_now.request_capture", return_value=pending_capture(0)):
        text = client.post(url, PARAMS, headers=HTMX).content.decode()
    assert "No agent is available right now" in text


def test_a_service_without_agents_is_named(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    text = client.post(url, PARAMS | {"service": "nobody"}, headers=HTMX).content.decode()
    assert 'class="toast"' in text
    assert "nobody" in text


def test_without_htmx_the_outcome_is_on_the_page(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    with patch("scheduler.capture_now.request_capture", return_value=pending_capture(1)):
        response = client.post(url, PARAMS, follow=True)
    assert response.redirect_chain[0][0].endswith("/flame?service=checkout&type=CPU&span=1h")
    assert response.content.decode().count("1 agent is waiting") == 1


def test_a_viewer_only_looks(client: Client, project: Project, charlie: User, url: str) -> None:
    Member.objects.create(project=project, user=charlie, role=Role.VIEWER)
    client.force_login(charlie)
    assert client.post(url, PARAMS).status_code == 403
    assert (
        "Capture now"
        not in client.get(reverse("flame", args=[project.project_id])).content.decode()
    )


def test_it_takes_a_post_with_a_token(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    assert client.get(url).status_code == 405
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(bob)
    assert careful.post(url, PARAMS).status_code == 403
