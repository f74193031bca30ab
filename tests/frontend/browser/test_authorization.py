"""An assistant's program sends a browser to us, and gets it back with a code."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, Route, expect

from projects.credentials import authorization_codes
from projects.models import AccessToken, AuthorizationCode, User
from tests.frontend.browser.axe import violations
from tests.server import PASSWORD

CALLBACK = "http://127.0.0.1:39211/callback"


def begin(page: Page, callback: str = CALLBACK) -> list[str]:
    """Open the link of the program; return the addresses to which the browser will come back."""
    came_back: list[str] = []

    def receive(route: Route) -> None:
        came_back.append(route.request.url)
        route.fulfill(body="<title>Program</title>", content_type="text/html")

    page.route(f"{callback}*", receive)
    fields = {
        "client_id": authorization_codes.register("Assistant", [callback]).client_id,
        "redirect_uri": callback,
        "response_type": "code",
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
        "state": "1",
    }
    page.goto(f"/oauth/authorize?{urlencode(fields)}")
    return came_back


def query(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


def test_person_signs_in_and_approves(page: Page, alice: User) -> None:
    came_back = begin(page)
    page.get_by_label("E-mail").fill(alice.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Sign in a program")).to_be_visible()
    expect(page.locator("main")).to_contain_text("calls itself “Assistant”")
    expect(page.locator("main")).to_contain_text("It runs on your machine: 127.0.0.1:39211")
    assert not violations(page)
    page.get_by_label("Expires").select_option("in 90 days")
    page.get_by_role("button", name="Approve").click()
    expect(page).to_have_title("Program")
    assert query(came_back[0])["state"] == ["1"]
    assert len(query(came_back[0])["code"][0]) == 43
    assert AuthorizationCode.objects.get().days == 90


def test_person_denies_a_program_elsewhere(
    page: Page, alice: User, sign_in: Callable[[User], None]
) -> None:
    sign_in(alice)
    came_back = begin(page, "https://assistant.example/callback")
    expect(page.locator("main")).to_contain_text("It runs on other machines, at: assistant.example")
    page.get_by_role("button", name="Deny").click()
    expect(page).to_have_title("Program")
    assert query(came_back[0])["error"] == ["access_denied"]
    assert not AuthorizationCode.objects.exists()
    assert not AccessToken.objects.exists()
