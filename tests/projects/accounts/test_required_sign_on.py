"""Domains that require single sign-on, with attempts to get around it."""

import time
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from profiler_site.configuration.checks import check_required_sign_on
from projects.accounts import required_sign_on
from projects.models import AuditEntry, User
from tests.projects.accounts.openid_provider import OpenIdProvider
from tests.projects.accounts.test_single_sign_on import (
    connect,
    is_signed_in,
    provider,
    sign_in,
    sign_in_by_password,
)

__all__ = ["provider"]
pytestmark = pytest.mark.django_db
PASSWORD = "a sentence works well"
ADDRESS = "mara@acme.example"  # that the provider sends


@pytest.fixture(autouse=True)
def required(settings: Settings, provider: OpenIdProvider) -> None:
    settings.SSO_REQUIRED_DOMAINS = ("acme.example",)


@pytest.fixture
def mara(alice: User) -> User:
    """Return an account with a password and a verified address of the domain."""
    alice.email = ADDRESS
    alice.save()
    EmailAddress.objects.create(user=alice, email=ADDRESS, verified=True, primary=True)
    return alice


def try_password(client: Client, user: User) -> str:
    form = {"login": user.email, "password": PASSWORD}
    response = client.post(reverse("account_login"), form)
    assert response.status_code == 403
    return response.content.decode()


def test_password_leads_to_the_providers(client: Client, mara: User) -> None:
    page = try_password(client, mara)
    assert "Continue with Acme Login" in page
    assert not is_signed_in(client)
    assert not AuditEntry.objects.filter(action="account.sign_in").exists()
    entry = AuditEntry.objects.get(action="account.sign_in_failed")
    assert (entry.actor_id, entry.detail["reason"]) == (mara.pk, "single sign-on is required")


def test_account_is_connected_after_its_password(
    client: Client, provider: OpenIdProvider, mara: User
) -> None:
    try_password(client, mara)
    sign_in(client, provider)
    assert is_signed_in(client)
    assert SocialAccount.objects.get().user == mara
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["account.sign_in_failed", "account.connect", "account.sign_in"]
    client.logout()
    sign_in(client, provider)
    assert is_signed_in(client)
    client.logout()
    try_password(client, mara)  # still
    assert not is_signed_in(client)


def test_connecting_needs_the_password_of_this_session(
    client: Client, provider: OpenIdProvider, mara: User
) -> None:
    try_password(Client(), mara)
    sign_in(client, provider)
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def test_connecting_ends_after_ten_minutes(
    client: Client, provider: OpenIdProvider, mara: User
) -> None:
    try_password(client, mara)
    with patch("projects.accounts.required_sign_on.time.time", return_value=time.time() + 601):
        sign_in(client, provider)
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def test_identity_with_another_address_is_not_connected(
    client: Client, provider: OpenIdProvider, mara: User
) -> None:
    EmailAddress.objects.filter(user=mara).update(email="other@acme.example")
    User.objects.filter(pk=mara.pk).update(email="other@acme.example")
    mara.refresh_from_db()
    try_password(client, mara)
    sign_in(client, provider)
    assert not SocialAccount.objects.filter(user=mara).exists()


def test_wrong_password_tells_nothing_of_the_domain(client: Client, mara: User) -> None:
    form = {"login": mara.email, "password": "a wrong sentence of it"}
    response = client.post(reverse("account_login"), form)
    assert response.status_code == 200
    assert "your company" not in response.content.decode()


def test_second_factor_is_asked_after_connecting(
    client: Client, provider: OpenIdProvider, mara: User
) -> None:
    TOTP.activate(mara, "JBSWY3DPEHPK3PXP")
    try_password(client, mara)
    sign_in(client, provider)
    assert not is_signed_in(client)


def test_reset_password_signs_nobody_in(client: Client, mara: User, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    client.post(reverse("account_reset_password"), {"email": mara.email})
    [message] = mail.outbox
    link = next(word for word in message.body.split() if "/reset/" in word)
    form = client.get(urlsplit(link).path, follow=True)
    new = {"password1": "another sentence too", "password2": "another sentence too"}
    client.post(form.request["PATH_INFO"], new, follow=True)
    mara.refresh_from_db()
    assert mara.check_password("another sentence too")
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("email", "is_verified", "expected"),
    [
        ("mara@ACME.example", True, True),
        ("mara@acme.example", False, False),
        ("mara@sub.acme.example", True, False),
        ("mara@notacme.example", True, False),
        ("acme.example@elsewhere.example", True, False),
    ],
)
def test_verified_addresses_of_the_domain_count(
    email: str, is_verified: bool, expected: bool, alice: User
) -> None:
    EmailAddress.objects.create(user=alice, email="a@elsewhere.example", verified=True)
    EmailAddress.objects.create(user=alice, email=email, verified=is_verified)
    assert required_sign_on.is_required(alice) is expected


def test_others_and_superusers_use_their_password(client: Client, mara: User, bob: User) -> None:
    sign_in_by_password(client, bob)
    assert is_signed_in(client)
    client.logout()
    User.objects.filter(pk=mara.pk).update(is_superuser=True, is_staff=True)
    sign_in_by_password(client, mara)
    assert is_signed_in(client)


def test_nobody_signs_up_with_such_an_address_and_a_password(client: Client) -> None:
    form = {
        "email": "new@acme.example",
        "password1": PASSWORD,
        "password2": PASSWORD,
        "project": "Shop",
    }
    page = client.post(reverse("account_signup"), form).content.decode()
    assert "use a button below" in page
    assert not User.objects.filter(email="new@acme.example").exists()


def test_connected_account_signs_in(client: Client, provider: OpenIdProvider, mara: User) -> None:
    connect(mara)
    sign_in(client, provider)
    assert is_signed_in(client)


def test_setting_without_a_provider_is_an_error(settings: Settings) -> None:
    assert check_required_sign_on(None) == []
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert [problem.id for problem in check_required_sign_on(None)] == ["flamewatch.E009"]
