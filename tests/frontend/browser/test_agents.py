"""Agents page: search while typing, deployments, and captures started from there."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Agent, Deployment, Project, User
from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from tests.frontend.browser.narrow_window import require_fit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agents(
    page: Page,
    alice: User,
    project: Project,
    sign_in: Callable[[User], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Page:
    now = timezone.now()
    seen = {"first_seen": now, "last_seen": now}
    offers = []
    for name in ("checkout", "catalog"):
        of = Deployment.objects.create(project=project, service=name, version="1.4", **seen)
        Agent.objects.create(
            deployment=of, identity=name, hostname=f"{name}-7f9c", types=["CPU"], **seen
        )
        offers.append(CaptureTarget(project.pk, of.pk, frozenset({ProfileType.CPU}), 1))
    monkeypatch.setattr(InProcessQueue, "targets", lambda self: offers)
    sign_in(alice)
    page.goto("/p/acme-shop/agents")
    return page


def test_search_filters_while_typing_and_is_in_the_url(agents: Page) -> None:
    rows = agents.locator("#agents tbody tr")
    expect(rows).to_have_count(2)
    agents.get_by_role("searchbox").press_sequentially("cat")
    expect(rows).to_have_count(1)
    expect(agents.locator("#summary")).to_contain_text("1 found")
    expect(agents.get_by_role("searchbox")).to_be_focused()
    agents.wait_for_url("**/agents?find=cat")
    agents.reload()
    expect(rows).to_have_count(1)


def test_back_returns_from_deployments_to_agents(agents: Page) -> None:
    agents.get_by_role("link", name="Deployments").click()
    agents.wait_for_url("**/agents?show=deployments")
    expect(agents.get_by_role("columnheader", name="Version")).to_be_visible()
    agents.go_back()
    expect(agents.get_by_role("columnheader", name="Agent CPU")).to_be_visible()


def test_capture_is_requested_from_a_deployment(agents: Page) -> None:
    agents.get_by_role("link", name="Deployments").click()
    row = agents.locator("tbody tr").filter(has_text="checkout")
    row.get_by_text("Capture now").click()
    row.get_by_role("button", name="CPU").click()
    card = agents.get_by_role("region", name="Requested capture")
    expect(card).to_contain_text("CPU time of checkout: capture queued")
    expect(row.get_by_role("button", name="CPU")).to_be_hidden()
    agents.wait_for_url("**/agents?show=deployments&capture=*")
    agents.reload()
    expect(card).to_contain_text("Waiting for a free agent of checkout")


def test_page_fits_a_narrow_window(agents: Page) -> None:
    require_fit(agents)
