"""POST `/p/<project>/capture`, by which a user requests a profile at once, and its progress."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects.models import Member, Project, Quota, Role, User
from projects.profile_types import ProfileType
from projects.usage import day_usage, limits
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.models import UserCapture
from tests.frontend import shop

PARAMS = {"service": "checkout", "type": "CPU"}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def url(project: Project) -> str:
    shop.deployment(project)
    return reverse("capture", args=[project.project_id])


@pytest.fixture
def connected(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the number of parked agents that offer CPU time."""

    def connect(agents: int) -> None:
        of = shop.deployment(project)
        offer = CaptureTarget(project.pk, of.pk, frozenset({ProfileType.CPU}), agents)
        monkeypatch.setattr(InProcessQueue, "targets", lambda _: [offer])

    connect(2)
    return connect


@pytest.mark.usefixtures("connected")
def test_a_new_request_is_queued_and_polled(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    html = client.post(url, PARAMS, headers=HTMX).content.decode()
    assert "CPU time of checkout: capture queued" in html
    assert re.search(r"Waiting for a free agent of checkout, (59|60) s left\.", html)
    row = UserCapture.objects.get()
    assert f'hx-get="{url}/{row.request}" hx-trigger="every 1s"' in html
    assert client.get(f"{url}/{row.request}").content.decode().count("capture queued") == 2


def test_progress_without_a_free_agent_says_so(
    client: Client, bob: User, url: str, connected: Callable[[int], None]
) -> None:
    connected(0)
    client.force_login(bob)
    html = client.post(url, PARAMS, headers=HTMX).content.decode()
    assert "No agent of checkout is free right now; waiting for one" in html


def test_a_service_without_agents_is_named(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    html = client.post(url, PARAMS | {"service": "nobody"}, headers=HTMX).content.decode()
    assert "CPU time of nobody: capture failed" in html
    assert "No agent of nobody has connected recently." in html
    assert "hx-get" not in html


@pytest.mark.usefixtures("connected")
def test_a_reached_quota_is_named(client: Client, bob: User, url: str, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=0)
    limits.forget(project.pk)
    day_usage.forget(project.pk)
    client.force_login(bob)
    html = client.post(url, PARAMS, headers=HTMX).content.decode()
    assert "limit of 0 profiles per day is reached" in html


@pytest.mark.usefixtures("connected")
def test_request_without_htmx_redirects_to_the_page_with_its_progress(
    client: Client, bob: User, url: str
) -> None:
    client.force_login(bob)
    response = client.post(url, PARAMS, follow=True)
    row = UserCapture.objects.get()
    (address, _status) = response.redirect_chain[0]
    assert address.endswith(f"/flame?service=checkout&type=CPU&span=1h&capture={row.request}")
    for html in (response.content.decode(), client.get(address).content.decode()):
        assert f'data-capture="{row.request}"' in html


@pytest.mark.usefixtures("connected")
def test_failure_without_htmx_is_shown_again_after_a_reload(
    client: Client, bob: User, url: str
) -> None:
    client.force_login(bob)
    response = client.post(url, PARAMS | {"type": "HEAP"}, follow=True)
    again = client.get(response.redirect_chain[0][0]).content.decode()
    assert "No agent of checkout offers HEAP. Available types: CPU." in again


def test_request_without_a_type_names_what_to_choose(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    html = client.post(url, {"service": "checkout"}, follow=True).content.decode()
    assert "Choose a service and a profile type first." in html


@pytest.mark.usefixtures("connected")
def test_progress_is_shown_on_the_agents_page(client: Client, bob: User, url: str) -> None:
    client.force_login(bob)
    client.post(url, PARAMS)
    row = UserCapture.objects.get()
    page = client.get(url.replace("capture", "agents"), {"capture": row.request})
    assert "CPU time of checkout: capture queued" in page.content.decode()


@pytest.mark.usefixtures("connected")
def test_captures_of_another_project_are_not_found(
    client: Client, bob: User, charlie: User, url: str, other_project: Project
) -> None:
    client.force_login(bob)
    client.post(url, PARAMS)
    row = UserCapture.objects.get()
    client.force_login(charlie)
    theirs = url.replace("acme-shop", other_project.project_id)
    assert client.get(f"{url}/{row.request}").status_code == 404
    assert client.get(f"{theirs}/{row.request}").status_code == 404
    flame = client.get(theirs.replace("capture", "flame"), {"capture": row.request})
    assert "capture queued" not in flame.content.decode()


def test_viewer_gets_403(client: Client, project: Project, charlie: User, url: str) -> None:
    Member.objects.create(project=project, user=charlie, role=Role.VIEWER)
    client.force_login(charlie)
    assert client.post(url, PARAMS).status_code == 403
    assert (
        "Capture now"
        not in client.get(reverse("flame", args=[project.project_id])).content.decode()
    )


def test_get_is_405_and_post_without_a_csrf_token_is_403(
    client: Client, bob: User, url: str
) -> None:
    client.force_login(bob)
    assert client.get(url).status_code == 405
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(bob)
    assert careful.post(url, PARAMS).status_code == 403


@pytest.mark.usefixtures("connected")
def test_the_latest_hundred_captures_of_a_project_are_stored(
    client: Client, bob: User, url: str, project: Project, other_project: Project
) -> None:
    for owner in (project, other_project):
        UserCapture.objects.bulk_create(
            UserCapture(
                request=f"{owner.pk}-{n}",
                project=owner,
                service="checkout",
                type="CPU",
                created=timezone.now(),
            )
            for n in range(100)
        )
    client.force_login(bob)
    client.post(url, PARAMS)
    assert UserCapture.objects.filter(project=project).count() == 100
    assert not UserCapture.objects.filter(request=f"{project.pk}-0").exists()
    assert UserCapture.objects.filter(project=other_project).count() == 100
