"""`/p/<project>/setup`, commands to paste and the progress of the service."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from projects.credentials import keys
from projects.models import Agent, ApiKey, AuditEntry, Delivery, Deployment, Project, User
from tests.frontend import shop
from tests.frontend.html import render_html

SETUP, STATUS = "/p/acme-shop/setup", "/p/acme-shop/setup/status"


@pytest.fixture
def agent_files(settings: Settings, tmp_path: Path) -> Path:
    settings.AGENT_FILES_DIR = tmp_path
    (tmp_path / "flamewatch_agent-0.2.0.tar.gz").write_bytes(b"sdist")
    (tmp_path / "flamewatch_agent-0.2.0-cp311-abi3-linux_x86_64.whl").write_bytes(b"wheel")
    return tmp_path


def pasted(page: str, name: str) -> str:
    found = re.search(rf'<pre class="code" id="{name}">(.*?)</pre>', page, re.S)
    assert found, name
    return unescape(found.group(1))


@pytest.fixture
def add_agent(project: Project) -> Callable[..., Agent]:
    def add(service: str = "checkout", profiled: list[str] | None = None) -> Agent:
        now = timezone.now()
        deployment = Deployment.objects.create(
            project=project,
            service=service,
            version="2.31.0",
            first_seen=now,
            last_seen=now,
            profiled=profiled or [],
        )
        return Agent.objects.create(
            deployment=deployment,
            identity=service,
            hostname="web-7f9c",
            types=["WALL", "CPU"],
            first_seen=now,
            last_seen=now,
        )

    return add


def test_stranger_is_redirected_to_sign_in(client: Client, project: Project) -> None:
    for address in (SETUP, STATUS):
        assert client.get(address).headers["Location"] == f"/account/login/?next={address}"


def test_outsider_gets_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get(SETUP).status_code == 404
    assert client.post(SETUP).status_code == 404
    assert client.get(STATUS).status_code == 404
    assert not ApiKey.objects.exists()


def test_get_request_creates_no_key(
    client: Client, alice: User, project: Project, agent_files: Path
) -> None:
    client.force_login(alice)
    page = client.get(SETUP).content.decode()
    assert "export FLAMEWATCH_KEY=fw_…\n" in pasted(page, "run-lines")
    assert "Create key" in page
    assert not ApiKey.objects.exists()


def test_new_key_is_shown_in_the_commands_once(
    client: Client, alice: User, project: Project, agent_files: Path
) -> None:
    client.force_login(alice)
    response = client.post(SETUP)
    found = re.search(r"fw_\w{10}_\w{38}", pasted(response.content.decode(), "run-lines"))
    assert found
    assert keys.matches(keys.parse(found[0]).secret, ApiKey.objects.get().secret_hash)
    assert "no-store" in response.headers["Cache-Control"]
    assert found[0] not in render_html(client.get(SETUP))
    assert AuditEntry.objects.latest("pk").action == "key.create"


def test_member_is_told_who_can_create_keys(
    client: Client, bob: User, project: Project, agent_files: Path
) -> None:
    client.force_login(bob)
    page = render_html(client.get(SETUP))
    assert "Owners and admins can create keys" in page
    assert "Create key" not in page
    response = client.post(SETUP)
    assert response.status_code == 403
    assert "Your role in Acme Shop is member." in render_html(response)
    assert not ApiKey.objects.exists()


def test_htmx_request_gets_the_commands_only(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    fragment = render_html(client.post(SETUP, headers={"HX-Request": "true"}))
    assert fragment.startswith('<div class="two" id="connect">')
    assert "<html" not in fragment


def test_the_install_line_takes_the_agent_from_this_server_alone(
    client: Client, alice: User, project: Project, agent_files: Path
) -> None:
    client.force_login(alice)
    line = pasted(client.get(SETUP).content.decode(), "install-lines")
    assert line == (
        "pip install --no-index --find-links http://127.0.0.1:8000/agents/python/ flamewatch-agent"
    )


def test_a_server_without_the_agents_files_says_so(
    client: Client, alice: User, project: Project, settings: Settings, tmp_path: Path
) -> None:
    settings.AGENT_FILES_DIR = tmp_path / "missing"
    client.force_login(alice)
    page = render_html(client.get(SETUP))
    assert "Agent package not installed" in page
    assert "install-lines" not in page


def test_status_without_agents_is_polled(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    fragment = render_html(client.get(STATUS))
    assert "Waiting for agent" in fragment
    assert 'hx-get="/p/acme-shop/setup/status?state=nobody" hx-trigger="every 2s"' in fragment


def test_unchanged_status_is_204(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    assert client.get(STATUS, {"state": "nobody"}).status_code == 204


def test_status_shows_the_agent_and_its_types(
    client: Client, alice: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    add_agent()
    client.force_login(alice)
    fragment = render_html(client.get(STATUS, {"state": "nobody"}))
    assert '<b class="strong">checkout</b>2.31.0 on' in fragment
    assert "web-7f9c" in fragment
    assert "Profile types: CPU, Wall" in fragment
    assert "every 2s" in fragment


def test_the_first_profile_ends_the_wait_and_opens_its_flame_graph(
    client: Client, alice: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    add_agent("check out/2", profiled=["WALL", "CPU"])
    client.force_login(alice)
    fragment = render_html(client.get(STATUS))
    assert "?service=check%20out%2F2&amp;type=CPU" in fragment
    assert "hx-trigger" not in fragment


def test_exit_link_depends_on_whether_a_service_is_connected(
    client: Client, alice: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    def way_out(page: str) -> tuple[str, bool]:
        found = re.search(r'<a[^>]*id="leave-setup"([^>]*)>\s*(.*?)\s*</a>', page, re.S)
        assert found
        return found[2], "hx-swap-oob" in found[1]

    client.force_login(alice)
    assert way_out(render_html(client.get(SETUP))) == ("Skip for now", False)
    assert way_out(render_html(client.get(STATUS))) == ("Skip for now", True)
    add_agent(profiled=["CPU"])
    assert way_out(render_html(client.get(STATUS, {"state": "nobody"}))) == ("Done", True)
    assert way_out(render_html(client.get(SETUP))) == ("Done", False)


def test_a_new_key_waits_for_a_new_agent(
    client: Client, alice: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    add_agent(profiled=["CPU"])
    client.force_login(alice)
    assert "Waiting for agent" in render_html(client.post(SETUP))


def test_agents_of_another_project_do_not_end_the_wait(
    client: Client, charlie: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    add_agent()
    client.force_login(charlie)
    client.post("/projects/new", {"name": "Other shop"})
    assert "Waiting for agent" in render_html(client.get("/p/other-shop/setup/status"))


def imported(project: Project, service: str = "batch") -> None:
    """Store profiles of a file, an hour old."""
    now = timezone.now()
    deployment = shop.deployment(project, service=service)
    shop.send(deployment, [now - timedelta(hours=1)])
    Deployment.objects.filter(pk=deployment.pk).update(profiled=["CPU"])
    Agent.objects.create(
        deployment=deployment,
        identity=f"file-{service}",
        user_agent="flamewatch-file-import Mozilla/5.0",
        delivery=Delivery.FILE,
        types=["CPU"],
        first_seen=now,
        last_seen=now,
    )


def test_imported_files_are_named_and_linked(client: Client, alice: User, project: Project) -> None:
    imported(project)
    client.force_login(alice)
    fragment = render_html(client.get(STATUS, {"state": "nobody"}))
    assert "Profiles imported" in fragment
    assert '<b class="strong">batch</b>' in fragment
    assert "Waiting for agent" not in fragment
    assert "About one profile per minute" not in fragment
    link = re.search(r'id="open-flame"\s*href="([^"]+)"', fragment)
    assert link
    flame = render_html(client.get(unescape(link[1])))
    assert "1 profile" in flame, "the range includes the imported profile"
    assert "every 2s" in fragment, "an agent may still appear"


def test_an_agent_is_shown_before_imported_files(
    client: Client, alice: User, project: Project, add_agent: Callable[..., Agent]
) -> None:
    imported(project)
    add_agent()
    client.force_login(alice)
    fragment = render_html(client.get(STATUS))
    assert "Agent seen" in fragment
    assert "Profiles imported" not in fragment


def test_status_takes_few_queries(
    client: Client,
    alice: User,
    project: Project,
    add_agent: Callable[..., Agent],
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    add_agent()
    client.force_login(alice)
    with django_assert_max_num_queries(5):
        client.get(STATUS)


def test_client_that_sends_is_connected_after_its_first_minute(
    client: Client, alice: User, project: Project
) -> None:
    imported(project)
    now = timezone.now()
    Agent.objects.update(delivery=Delivery.PUSH, reporting_since=now, user_agent="pyroscope")
    client.force_login(alice)
    first = render_html(client.get(STATUS))
    assert "Profiles received" in first
    assert "A client that keeps sending is connected after its first minute." in first
    state = re.search(r"state=([^\"]+)", first)
    assert state
    assert client.get(STATUS, {"state": unescape(state[1])}).status_code == 204
    Agent.objects.update(reporting_since=now - timedelta(minutes=2))
    later = render_html(client.get(STATUS, {"state": unescape(state[1])}))
    assert "Your service is connected" in later
