"""Members page: invite by a link, join as somebody else, and change a role."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from projects.models import Member, Project, Role, User
from tests.frontend.browser.axe import violations

pytestmark = pytest.mark.django_db(transaction=True)
MEMBERS = "/p/acme-shop/settings/members"


@pytest.fixture
def members_page(
    page: Page, alice: User, project: Project, sign_in: Callable[[User], None]
) -> Page:
    sign_in(alice)
    page.goto(MEMBERS)
    return page


def test_person_without_account_joins_by_a_link_and_gets_a_role(
    members_page: Page, browser: Browser, live_server: LiveServer
) -> None:
    members_page.get_by_role("link", name="Invite people").click()
    dialog = members_page.get_by_role("dialog", name="Invite people to Acme Shop")
    expect(dialog.get_by_label("E-mail addresses")).to_be_visible()
    dialog.get_by_role("radio", name="Link").check()
    expect(dialog.get_by_label("E-mail addresses")).to_be_hidden()
    dialog.get_by_label("Role").select_option("viewer")
    dialog.get_by_role("button", name="Invite").click()
    links = members_page.get_by_role("dialog", name="Invitation link created")
    path = "/invitations/" + links.locator("code").inner_text().rpartition("/")[2]
    assert violations(members_page) == []
    links.get_by_role("button", name="Done").click()
    expect(members_page.locator("#invitations tbody tr")).to_have_count(1)

    theirs = browser.new_context(base_url=live_server.url).new_page()
    theirs.goto(path)
    assert violations(theirs) == []
    theirs.get_by_role("link", name="Create account").click()
    theirs.get_by_label("Work e-mail").fill("lena@acme.example")
    theirs.get_by_label("Password").fill("a sentence works well")
    theirs.get_by_role("button", name="Create account").click()
    expect(theirs.get_by_role("heading", name="Join Acme Shop")).to_be_visible()
    theirs.get_by_role("button", name="Join project").click()
    expect(theirs.locator(".toast")).to_have_text("You joined Acme Shop with the role viewer")
    theirs.close()

    members_page.goto(MEMBERS)
    members_page.get_by_label("Role of lena").select_option("admin")
    members_page.get_by_role("button", name="Change the role of lena").click()
    expect(members_page.locator(".toast")).to_have_text("lena now has the role admin")
    assert Member.objects.get(user__email="lena@acme.example").role == Role.ADMIN


def test_keyboard_removes_a_member_after_a_question(
    members_page: Page, bob: User, project: Project
) -> None:
    members_page.reload()
    members_page.get_by_role("link", name="Remove bob").focus()
    members_page.keyboard.press("Enter")
    dialog = members_page.get_by_role("dialog", name="Remove bob from Acme Shop?")
    modal = members_page.locator("dialog:modal")  # a script makes it so, and focuses it again
    expect(modal).to_be_visible()
    expect(dialog.get_by_role("button", name="Keep member")).to_be_focused()
    members_page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(members_page.get_by_role("link", name="Remove bob")).to_be_focused()
    assert Member.objects.filter(user=bob).exists()
    members_page.keyboard.press("Enter")
    expect(modal).to_be_visible()
    expect(dialog.get_by_role("button", name="Keep member")).to_be_focused()
    members_page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="Remove")).to_be_focused()
    members_page.keyboard.press("Enter")
    expect(members_page.locator(".toast")).to_have_text("bob was removed")
    assert not Member.objects.filter(user=bob).exists()


@pytest.mark.usefixtures("bob")
def test_dialog_does_not_take_the_focus_back_from_a_quick_person(members_page: Page) -> None:
    members_page.reload()
    members_page.evaluate("""() => {
        const focusOther = () => document.querySelector('dialog:modal .danger').focus();
        const note = () => { globalThis.focused = document.activeElement.textContent.trim(); };
        document.addEventListener('htmx:afterSwap', focusOther, { once: true });
        document.addEventListener('htmx:afterSettle', note, { once: true });
    }""")
    members_page.get_by_role("link", name="Remove bob").press("Enter")
    members_page.wait_for_function("() => globalThis.focused !== undefined")
    assert members_page.evaluate("globalThis.focused") == "Remove member"


def test_people_are_a_table_for_screen_readers_also_as_cards(members_page: Page) -> None:
    for width in (1440, 360):
        members_page.set_viewport_size({"width": width, "height": 800})
        table = members_page.locator("#people").get_by_role("table")
        expect(table.get_by_role("columnheader")).to_have_count(4)
        expect(table.get_by_role("row")).to_have_count(2)
        scrolled = members_page.evaluate("document.documentElement.scrollWidth")
        assert scrolled <= width
        assert violations(members_page) == []
