"""New project page: the id follows the name while it is typed."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from projects.models import User

pytestmark = pytest.mark.django_db(transaction=True)


def test_suggested_id_follows_the_typed_name(
    page: Page, alice: User, sign_in: Callable[[User], None]
) -> None:
    sign_in(alice)
    page.goto("/projects/new")
    page.get_by_label("Name").press_sequentially("Acme Warehouse")
    expect(page.locator("#suggested-id code")).to_have_text("acme-warehouse")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/p/acme-warehouse/setup")
