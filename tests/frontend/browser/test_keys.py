"""Page of API keys: its dialogs."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.credentials import keys
from projects.models import ApiKey, KeyFile, Project, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keys_page(page: Page, alice: User, project: Project, sign_in: Callable[[User], None]) -> Page:
    keys.create(project, "production", actor=alice)
    sign_in(alice)
    page.goto("/p/acme-shop/settings/keys")
    return page


def test_a_new_key_is_shown_in_a_dialog_once(keys_page: Page) -> None:
    keys_page.get_by_role("link", name="Create API key").click()
    form = keys_page.get_by_role("dialog", name="Create API key")
    form.locator("[name=name]").fill("laptop")
    expect(form.locator("[name=date]")).to_be_hidden()
    form.locator("[name=expiry]").select_option("On a date")
    expect(form.locator("[name=date]")).to_be_visible()
    form.locator("[name=expiry]").select_option("In 30 days")
    form.get_by_role("button", name="Create key").click()
    dialog = keys_page.get_by_role("dialog", name="Key “laptop” created")
    expect(dialog).to_be_visible()
    expect(dialog.locator("#new-key")).to_have_text(re.compile(r"^fw_\w{49}$"))
    expect(keys_page.locator("dialog:modal")).to_have_count(1)  # closes on Escape
    keys_page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(keys_page.locator("#keys tbody tr")).to_have_count(2)


def test_a_key_expires_at_the_end_of_a_day_of_the_browser(keys_page: Page) -> None:
    day = (timezone.now() + timedelta(days=40)).date()
    keys_page.get_by_role("link", name="Create API key").click()
    form = keys_page.get_by_role("dialog", name="Create API key")
    form.locator("[name=name]").fill("laptop")
    form.locator("[name=expiry]").select_option("On a date")
    form.locator("[name=date]").fill(day.isoformat())
    form.get_by_role("button", name="Create key").click()
    expect(keys_page.get_by_role("dialog", name="Key “laptop” created")).to_be_visible()
    expires = ApiKey.objects.get(name="laptop").expires
    assert expires
    local = expires.astimezone(ZoneInfo("Europe/Berlin"))
    assert (local.date(), local.hour, local.minute) == (day, 23, 59)
    keys_page.keyboard.press("Escape")
    row = keys_page.locator("#keys tbody tr", has_text="laptop")
    expect(row).to_contain_text(f"{day.day} {day:%b %Y}")


def test_revocation_asks_for_confirmation_and_then_revokes(keys_page: Page) -> None:
    keys_page.get_by_role("link", name="Revoke production").click()
    dialog = keys_page.get_by_role("dialog", name="Revoke “production”?")
    expect(dialog.get_by_role("button", name="Keep key")).to_be_focused()
    dialog.get_by_role("button", name="Keep key").click()
    expect(dialog).to_have_count(0)
    assert ApiKey.objects.get().revoked is None
    keys_page.get_by_role("link", name="Revoke production").click()
    dialog.get_by_role("button", name="Revoke key").click()
    expect(keys_page.locator(".toast")).to_have_text("Key “production” revoked")
    expect(keys_page.locator("#keys")).to_contain_text("revoked")
    assert ApiKey.objects.get().revoked is not None


def test_a_key_file_is_downloaded_from_a_dialog(keys_page: Page) -> None:
    keys_page.get_by_role("link", name="Key file production").click()
    dialog = keys_page.get_by_role("dialog", name="Key file of “production”")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    with keys_page.expect_download() as downloading:
        dialog.get_by_role("button", name="Download for Node.js").click()
    file = json.loads(downloading.value.path().read_text())
    assert downloading.value.suggested_filename.startswith("flamewatch-acme-shop-")
    assert file["private_key_id"] == KeyFile.objects.get().file_id
    assert "universe_domain" in file
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_rotation_shows_the_new_key_and_keeps_the_old_one(keys_page: Page) -> None:
    keys_page.get_by_role("link", name="Rotate production").click()
    keys_page.get_by_role("dialog").get_by_role("button", name="Rotate key").click()
    dialog = keys_page.get_by_role("dialog", name="Key “production” created")
    expect(dialog.locator("#new-key")).to_have_text(re.compile(r"^fw_\w{49}$"))
    expect(keys_page.locator("dialog:modal")).to_have_count(1)  # closes on Escape
    keys_page.keyboard.press("Escape")
    expect(keys_page.locator("#keys .expand")).to_contain_text("The old key")
    expect(keys_page.get_by_role("link", name="Finish rotation production")).to_be_visible()


def test_all_buttons_of_a_dialog_are_inside_a_narrow_window(keys_page: Page) -> None:
    keys_page.set_viewport_size({"width": 360, "height": 740})
    keys_page.get_by_role("link", name="Key file production").click()
    buttons = keys_page.get_by_role("dialog").get_by_role("button")
    expect(buttons).to_have_count(3)
    left = buttons.evaluate_all("all => Math.min(...all.map(e => e.getBoundingClientRect().left))")
    assert left > 0
    height = keys_page.get_by_role("dialog").evaluate("dialog => dialog.clientHeight")
    assert height < 400  # no taller than its content


def test_list_of_keyboard_shortcuts_begins_at_its_top(keys_page: Page) -> None:
    keys_page.goto("/p/acme-shop/flame?service=shop&type=CPU")
    keys_page.set_viewport_size({"width": 390, "height": 500})
    keys_page.keyboard.press("?")
    dialog = keys_page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("heading", name="Keyboard shortcuts")).to_be_focused()
    assert dialog.evaluate("dialog => [dialog.scrollTop, dialog.scrollHeight > 500]") == [0, True]
