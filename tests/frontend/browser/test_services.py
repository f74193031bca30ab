"""Services page: search while typing, and Back restores the previous state."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Deployment, Project, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def services(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    now = timezone.now()
    for name in ("checkout", "catalog", "search"):
        Deployment.objects.create(project=project, service=name, first_seen=now, last_seen=now)
    sign_in(alice)
    page.goto("/p/acme-shop/services")
    return page


def test_search_filters_while_typing_and_is_in_the_url(services: Page) -> None:
    rows = services.locator("#services tbody tr")
    expect(rows).to_have_count(3)
    services.get_by_label("Find a service").press_sequentially("cat")
    expect(rows).to_have_count(1)
    expect(services.locator("#summary")).to_contain_text("1 found")
    expect(services.get_by_label("Find a service")).to_be_focused()
    services.wait_for_url("**/services?find=cat")
    services.reload()
    expect(rows).to_have_count(1)


def test_back_restores_the_previous_order(services: Page) -> None:
    services.get_by_label("Sort by").select_option("last")
    services.wait_for_url("**/services?sort=last")
    services.go_back()
    services.wait_for_url("**/services")
    expect(services.get_by_role("columnheader", name="Service")).to_have_attribute(
        "aria-sort", "ascending"
    )
    expect(services.locator("#services tbody tr")).to_have_count(3)


def test_a_service_leads_to_its_flame_graph(services: Page) -> None:
    expect(services.get_by_role("link", name="catalog")).to_have_attribute(
        "href", "/p/acme-shop/flame?service=catalog&span=1d"
    )
