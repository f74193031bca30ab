"""Passkeys in Chromium with a virtual authenticator, under the pages' content security policy."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from playwright.sync_api import CDPSession, Page, expect
from pytest_django import Settings

from projects.models import AuditEntry, User

PASSWORD = "a sentence works well"


@pytest.fixture
def mara(settings: Settings, base_url: str, transactional_db: None) -> User:
    settings.FLAMEWATCH_URL = base_url
    return User.objects.create_user("mara@example.org", PASSWORD)


@pytest.fixture
def device(page: Page, mara: User) -> tuple[CDPSession, str]:
    """Return an authenticator that verifies its user and stores passkeys."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    added = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, added["authenticatorId"]


def enter_password(page: Page) -> None:
    page.goto("/account/login/")
    page.get_by_label("E-mail").fill("mara@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def add_passkey(page: Page, *, passwordless: bool) -> None:
    enter_password(page)
    page.goto("/account/")
    page.get_by_role("link", name="Passkeys").click()
    page.get_by_role("link", name="Add a passkey").click()
    if "reauthenticate" in page.url:
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("Laptop")
    if passwordless:
        page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Recovery")).to_be_visible()


def sign_out(page: Page) -> None:
    page.goto("/account/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/account/login/**")


def test_passkey_signs_in_without_a_password(
    page: Page, device: tuple[CDPSession, str], mara: User
) -> None:
    add_passkey(page, passwordless=True)
    entry = AuditEntry.objects.get(action="account.factor_add", detail__factor="webauthn")
    assert entry.actor == mara
    page.goto("/account/2fa/webauthn/")
    expect(page.get_by_text("signs in without a password")).to_be_visible()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(lambda url: "login" not in url)
    page.goto("/account/")
    expect(page.locator("main").get_by_text("mara@example.org").first).to_be_visible()
    newest = AuditEntry.objects.filter(action="account.sign_in").latest("pk")
    assert newest.detail["factor"] == "webauthn"


def test_passkey_is_the_second_factor_after_the_password(
    page: Page, device: tuple[CDPSession, str], mara: User
) -> None:
    add_passkey(page, passwordless=False)
    sign_out(page)
    enter_password(page)
    page.wait_for_url("**/2fa/authenticate/")
    page.goto("/account/")  # not signed in yet
    assert "/account/login" in page.url or "/2fa/authenticate" in page.url
    page.goto("/account/2fa/authenticate/")
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(lambda url: "authenticate" not in url)
    page.goto("/account/")
    expect(page.get_by_text("Signing in asks for a code")).to_be_visible()


def test_person_who_is_not_verified_by_the_device_does_not_sign_in(
    page: Page, device: tuple[CDPSession, str], mara: User
) -> None:
    add_passkey(page, passwordless=True)
    sign_out(page)
    session, authenticator = device
    session.send(
        "WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False}
    )
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("The browser used no passkey")).to_be_visible()
    assert "/account/login" in page.url


def test_operator_removes_passkeys(page: Page, device: tuple[CDPSession, str], mara: User) -> None:
    add_passkey(page, passwordless=True)
    operator = User.objects.create_superuser("operator@example.org", PASSWORD)
    admin = Client()
    admin.force_login(operator)
    action = {"action": "reset_factors", "_selected_action": [mara.pk]}
    admin.post(reverse("admin:projects_user_changelist"), action)
    assert not Authenticator.objects.exists()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("Incorrect code")).to_be_visible()
