"""Set-up page: a key inserted into the commands, and waiting for the first profile."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings

from projects.models import Agent, ApiKey, Deployment, Project, User

pytestmark = pytest.mark.django_db(transaction=True)
SETUP = "/p/acme-shop/setup"


@pytest.fixture
def setup(
    page: Page,
    alice: User,
    project: Project,
    sign_in: Callable[[User], None],
    settings: Settings,
    tmp_path: Path,
) -> Page:
    (tmp_path / "flamewatch_agent-0.2.0-cp311-abi3-linux_x86_64.whl").touch()
    settings.AGENT_FILES_DIR = tmp_path
    sign_in(alice)
    page.goto(SETUP)
    return page


def test_new_key_appears_in_the_commands_without_leaving_the_page(setup: Page) -> None:
    expect(setup.locator("#run-lines")).to_contain_text("FLAMEWATCH_KEY=fw_…")
    setup.get_by_role("button", name="Create key").click()
    expect(setup.locator("#run-lines")).to_contain_text(re.compile(r"FLAMEWATCH_KEY=fw_\w{49}"))
    expect(setup.locator("#run-lines")).to_be_visible()
    assert setup.url.endswith(SETUP)
    setup.reload()
    expect(setup.locator("#run-lines")).to_contain_text("FLAMEWATCH_KEY=fw_…")
    assert ApiKey.objects.count() == 1


def test_the_open_agent_stays_open_with_a_new_key(setup: Page) -> None:
    key = re.compile(r"fw_\w{49}")
    go = setup.locator("#client-go")
    go.locator("summary").click()
    expect(setup.locator("#run-lines")).to_be_hidden()
    setup.get_by_role("button", name="Create key").click()
    expect(go.get_by_text(key).first).to_be_visible()
    expect(setup.locator("#run-lines")).to_be_hidden()


def test_copy_button_copies_the_commands_exactly(setup: Page) -> None:
    setup.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = setup.get_by_role("button", name="Copy").first
    button.click()
    expect(setup.get_by_role("button", name="Copied")).to_be_visible()
    copied = setup.evaluate("() => navigator.clipboard.readText()")
    assert copied == setup.locator("#install-lines").text_content()


def test_page_follows_the_agent_until_its_first_profile(setup: Page, project: Project) -> None:
    expect(setup.get_by_role("heading", name="Waiting for agent")).to_be_visible()
    now = timezone.now()
    deployment = Deployment.objects.create(
        project=project, service="checkout", version="2.31.0", first_seen=now, last_seen=now
    )
    Agent.objects.create(
        deployment=deployment,
        identity="a",
        hostname="web-1",
        types=["CPU"],
        first_seen=now,
        last_seen=now,
    )
    expect(setup.get_by_role("heading", name="Agent seen")).to_be_visible()
    expect(setup.locator("#waiting")).to_contain_text("web-1")
    Deployment.objects.update(profiled=["CPU"])
    link = setup.get_by_role("link", name="Open flame graph")
    expect(link).to_have_attribute("href", "/p/acme-shop/flame?service=checkout&type=CPU")


def test_a_note_is_shown_while_the_server_does_not_respond(
    setup: Page, allowed_errors: list[str]
) -> None:
    allowed_errors += ["ERR_FAILED", "htmx:sendError"]  # htmx logs failed requests
    trouble = setup.locator("#trouble")
    setup.route("**/setup/status*", lambda route: route.abort())
    expect(trouble).to_contain_text("The server does not respond.")
    expect(setup.get_by_role("heading", name="Waiting for agent")).to_be_visible()
    setup.unroute("**/setup/status*")
    expect(trouble).to_be_hidden()


def test_a_session_that_ends_leads_to_the_sign_in_page(setup: Page) -> None:
    setup.context.clear_cookies()
    expect(setup.get_by_role("heading", name="Sign in")).to_be_visible()
    setup.wait_for_url("**/account/login/?next=/p/acme-shop/setup")
