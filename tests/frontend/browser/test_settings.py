"""Settings page: dialogs of API keys."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from projects.credentials import keys
from projects.models import ApiKey, KeyFile, Project, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def settings_page(
    page: Page, alice: User, project: Project, sign_in: Callable[[User], None]
) -> Page:
    keys.create(project, "production", actor=alice)
    sign_in(alice)
    page.goto("/p/acme-shop/settings")
    return page


def test_a_new_key_is_shown_in_a_dialog_once(settings_page: Page) -> None:
    form = settings_page.locator("#keys form.row")
    form.get_by_label("Name").fill("laptop")
    form.get_by_role("button", name="Create key").click()
    dialog = settings_page.get_by_role("dialog", name="Key “laptop” created")
    expect(dialog).to_be_visible()
    expect(dialog.locator("#new-key")).to_have_text(re.compile(r"^fw_\w{49}$"))
    settings_page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(settings_page.locator("#keys tbody tr")).to_have_count(2)


def test_revocation_asks_for_confirmation_and_then_revokes(settings_page: Page) -> None:
    settings_page.get_by_role("link", name="Revoke production").click()
    dialog = settings_page.get_by_role("dialog", name="Revoke “production”?")
    expect(dialog.get_by_role("button", name="Keep key")).to_be_focused()
    dialog.get_by_role("button", name="Keep key").click()
    expect(dialog).to_have_count(0)
    assert ApiKey.objects.get().revoked is None
    settings_page.get_by_role("link", name="Revoke production").click()
    dialog.get_by_role("button", name="Revoke key").click()
    expect(settings_page.locator(".toast")).to_have_text("Key “production” revoked")
    expect(settings_page.locator("#keys")).to_contain_text("revoked")
    assert ApiKey.objects.get().revoked is not None


def test_a_key_file_is_downloaded_from_a_dialog(settings_page: Page) -> None:
    settings_page.get_by_role("link", name="Key file production").click()
    dialog = settings_page.get_by_role("dialog", name="Key file of “production”")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    with settings_page.expect_download() as downloading:
        dialog.get_by_role("button", name="Download for Node.js").click()
    file = json.loads(downloading.value.path().read_text())
    assert downloading.value.suggested_filename.startswith("flamewatch-acme-shop-")
    assert file["private_key_id"] == KeyFile.objects.get().file_id
    assert "universe_domain" in file
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
