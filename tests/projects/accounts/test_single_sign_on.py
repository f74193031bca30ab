"""Single sign-on with an OpenID provider and a fake GitHub, with attacks."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from profiler_site.configuration.sign_on_providers import OpenIdConnectClient, build
from projects.models import AuditEntry, User
from tests.frontend.html import read_forward
from tests.projects.accounts.openid_provider import (
    CLIENT_ID,
    OTHER_KEY,
    OpenIdProvider,
    serve_provider,
)

pytestmark = pytest.mark.django_db
LOGIN = "/account/sso/oidc/login/"
GITHUB = "/account/sso/github/login/"


@pytest.fixture
def provider(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenIdProvider]:
    with serve_provider() as server:
        settings.SOCIALACCOUNT_PROVIDERS = build(
            oidc=OpenIdConnectClient("oidc", "Acme Login", server.url, CLIENT_ID, "secret"),
            google=OpenIdConnectClient("google", "Google", server.url, "at-google", "secret"),
            github=(CLIENT_ID, "secret"),
        )
        for name, path in [
            ("access_token_url", "/github/token"),
            ("authorize_url", "/authorize"),
            ("profile_url", "/user"),
            ("emails_url", "/user/emails"),
        ]:
            monkeypatch.setattr(GitHubOAuth2Adapter, name, server.url + path)
        yield server


def begin(client: Client, address: str = LOGIN, **data: str) -> str:
    """Press the button; return the address at the provider."""
    return read_forward(client.post(address, data))


def sign_in(client: Client, provider: OpenIdProvider, address: str = LOGIN, **data: str) -> Any:
    query = provider.authorize(begin(client, address, **data))
    return client.get(f"{address}callback/{query}")


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def connect(user: User, uid: str = "7001") -> SocialAccount:
    return SocialAccount.objects.create(user=user, provider="oidc", uid=uid)


@pytest.mark.parametrize("address", [LOGIN, "/account/sso/google/login/"])
def test_new_person_gets_an_account_with_a_verified_address(
    client: Client, provider: OpenIdProvider, address: str
) -> None:
    response = sign_in(client, provider, address)
    assert response.headers["Location"] == "/"
    assert is_signed_in(client)
    user = User.objects.get()
    assert user.email == "mara@acme.example"
    assert not user.has_usable_password()
    assert EmailAddress.objects.get(user=user).verified
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"account.sign_up", "account.sign_in"} <= actions


def test_sign_in_entry_names_the_provider(client: Client, provider: OpenIdProvider) -> None:
    sign_in(client, provider)
    entry = AuditEntry.objects.get(action="account.sign_in")
    assert entry.detail["provider"] == "oidc"


def test_request_to_the_provider_has_state_nonce_and_challenge(
    client: Client, provider: OpenIdProvider
) -> None:
    address = begin(client)
    assert address.startswith(f"{provider.url}/authorize?")
    for name in ("state=", "nonce=", "code_challenge=", "code_challenge_method=S256"):
        assert name in address


def test_button_needs_a_post(client: Client, provider: OpenIdProvider) -> None:
    page = client.get(LOGIN)
    assert page.status_code == 200
    assert provider.url not in page.content.decode()


def test_changed_address_at_the_provider_is_the_same_account(
    client: Client, provider: OpenIdProvider, alice: User
) -> None:
    connect(alice)
    provider.person["email"] = "charlie@example.org"
    sign_in(client, provider)
    assert client.session["_auth_user_id"] == str(alice.pk)
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"


def test_address_of_another_account_never_signs_in_to_it(
    client: Client, provider: OpenIdProvider, alice: User
) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    provider.person["email"] = "Alice@Example.org"
    response = sign_in(client, provider)
    assert response.status_code == 409
    assert "Sign in with your password" in response.content.decode()
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize("verified", [False, None, "false"])
def test_unverified_address_creates_no_account_and_does_not_tell_of_others(
    client: Client, provider: OpenIdProvider, alice: User, verified: object
) -> None:
    provider.person |= {"email": alice.email, "email_verified": verified}
    response = sign_in(client, provider)
    assert response.status_code == 409
    assert "no verified e-mail address" in response.content.decode()
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": None},
        {"nonce": "forged"},
        {"aud": "another client"},
        {"iss": "https://other.example"},
        {"exp": 1_000_000_000},
        {"sub": "of somebody else"},  # than that of the user info
    ],
    ids=str,
)
def test_forged_id_token_is_rejected(
    client: Client, provider: OpenIdProvider, alice: User, claims: dict[str, Any]
) -> None:
    connect(alice)
    provider.claims = claims
    if "sub" in claims:
        provider.user_info = {"sub": "7001"}
    response = sign_in(client, provider)
    assert "Location" not in response.headers
    assert not is_signed_in(client)
    assert User.objects.count() == 1


def test_token_signed_by_another_key_is_rejected(client: Client, provider: OpenIdProvider) -> None:
    provider.key = OTHER_KEY
    sign_in(client, provider)
    assert not is_signed_in(client)


def test_discovery_document_of_another_issuer_is_rejected(
    client: Client, provider: OpenIdProvider
) -> None:
    provider.discovery = {"issuer": "https://other.example"}
    assert "authorize" not in client.post(LOGIN).content.decode()


def test_state_works_once_and_in_its_browser_only(client: Client, provider: OpenIdProvider) -> None:
    query = provider.authorize(begin(client))
    stranger = Client()
    stranger.get(f"{LOGIN}callback/{query}")
    assert not is_signed_in(stranger)
    client.get(f"{LOGIN}callback/{query}")
    assert is_signed_in(client)
    client.post(reverse("account_logout"))
    client.get(f"{LOGIN}callback/{query}")
    assert not is_signed_in(client)


def test_second_factor_is_asked_after_single_sign_on(
    client: Client, provider: OpenIdProvider, alice: User
) -> None:
    connect(alice)
    TOTP.activate(alice, "JBSWY3DPEHPK3PXP")
    response = sign_in(client, provider)
    assert response.headers["Location"].startswith(reverse("mfa_authenticate"))
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/account/tokens", "/account/tokens"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
    ],
)
def test_next_leads_to_our_own_pages_only(
    client: Client, provider: OpenIdProvider, target: str, location: str
) -> None:
    response = sign_in(client, provider, next=target)
    assert response.headers["Location"] == location


@pytest.mark.parametrize("policy", ["closed", "invited"])
def test_sign_up_policy_holds_for_single_sign_on(
    client: Client, provider: OpenIdProvider, settings: Settings, policy: str
) -> None:
    settings.SIGNUP = policy
    sign_in(client, provider)
    assert not User.objects.exists()


def test_accounts_by_single_sign_on_count_as_new_accounts(
    provider: OpenIdProvider, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"signups_per_hour": "1/h/ip"}
    sign_in(Client(REMOTE_ADDR="192.0.2.1"), provider)
    provider.person = {"sub": "2", "email": "b@acme.example", "email_verified": True}
    assert sign_in(Client(REMOTE_ADDR="192.0.2.1"), provider).status_code == 429
    assert User.objects.count() == 1


def sign_in_by_password(client: Client, user: User) -> None:
    form = {"login": user.email, "password": "a sentence works well"}
    client.post(reverse("account_login"), form)


def test_owner_connects_and_disconnects(
    client: Client, provider: OpenIdProvider, alice: User
) -> None:
    sign_in_by_password(client, alice)
    response = sign_in(client, provider, process="connect")
    assert response.headers["Location"] == reverse("account_reauthenticate")
    assert not SocialAccount.objects.exists()
    client.post(reverse("account_reauthenticate"), {"password": "a sentence works well"})
    row = SocialAccount.objects.get(user=alice)
    assert "Acme Login" in client.get(reverse("account")).content.decode()
    client.post(reverse("disconnect_account", args=[row.pk]))
    assert not SocialAccount.objects.exists()
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["account.sign_in", "account.connect", "account.disconnect"]


def test_account_of_another_person_is_not_connected(
    client: Client, provider: OpenIdProvider, alice: User, charlie: User
) -> None:
    row = connect(charlie)
    sign_in_by_password(client, alice)
    client.post(reverse("account_reauthenticate"), {"password": "a sentence works well"})
    sign_in(client, provider, process="connect")
    row.refresh_from_db()
    assert row.user == charlie
    assert client.post(reverse("disconnect_account", args=[row.pk])).status_code == 404


def test_last_way_to_sign_in_cannot_be_disconnected(
    client: Client, provider: OpenIdProvider
) -> None:
    sign_in(client, provider)
    row = SocialAccount.objects.get()
    page = client.post(reverse("disconnect_account", args=[row.pk]), follow=True)
    assert "no password" in page.content.decode()
    assert SocialAccount.objects.exists()


def test_github_signs_in_by_its_number_with_the_primary_verified_address(
    client: Client, provider: OpenIdProvider
) -> None:
    sign_in(client, provider, GITHUB)
    assert is_signed_in(client)
    assert User.objects.get().email == "octocat@acme.example"
    assert SocialAccount.objects.get().uid == "583231"


def test_github_without_a_verified_address_creates_no_account(
    client: Client, provider: OpenIdProvider
) -> None:
    provider.github_emails = [
        {"email": "o@acme.example", "primary": True, "verified": False, "visibility": "public"}
    ]
    assert sign_in(client, provider, GITHUB).status_code == 409
    assert not User.objects.exists()


def test_provider_that_does_not_answer_is_an_error_page(
    client: Client, provider: OpenIdProvider, settings: Settings
) -> None:
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["server_url"] = (
        "http://127.0.0.1:1/"
    )
    assert client.post(LOGIN).status_code < 500


@pytest.mark.parametrize("address", [LOGIN, GITHUB, f"{LOGIN}callback/", f"{GITHUB}callback/"])
def test_provider_that_is_not_configured_is_404(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404
    assert client.post(address).status_code == 404


def test_sign_in_and_sign_up_pages_have_a_button_for_each_provider(
    client: Client, provider: OpenIdProvider
) -> None:
    for name in ("account_login", "account_signup"):
        page = client.get(reverse(name)).content.decode()
        for provider_name in ("Acme Login", "Google", "GitHub"):
            assert f"Continue with {provider_name}" in page


def test_person_without_a_password_sets_one(client: Client, provider: OpenIdProvider) -> None:
    sign_in(client, provider)
    page = client.get(reverse("account")).content.decode()
    assert "Set a password" in page
    assert "Connect Acme Login" not in page  # connected already
    assert "Connect GitHub" in page
    assert "addresses stay unverified" not in page
    password = "a long enough sentence"
    assert "Confirm new password" in client.get(reverse("account_set_password")).content.decode()
    client.post(reverse("account_set_password"), {"password1": password, "password2": password})
    user = User.objects.get()
    assert user.check_password(password)
    assert AuditEntry.objects.filter(action="account.password_change", actor_id=user.pk).exists()
    assert "Change password" in client.get(reverse("account")).content.decode()


def test_domains_hold_for_single_sign_on(
    client: Client, provider: OpenIdProvider, settings: Settings
) -> None:
    settings.SIGNUP_DOMAINS = ("other.example",)
    page = sign_in(client, provider)
    assert page.status_code == 409
    assert "is not an address of other.example" in page.content.decode()
    assert not User.objects.exists()
    settings.SIGNUP_DOMAINS = ("acme.example",)
    sign_in(client, provider)
    assert User.objects.get().email == "mara@acme.example"


def test_verified_address_of_an_allowed_domain_is_taken(
    client: Client, provider: OpenIdProvider, settings: Settings
) -> None:
    settings.SIGNUP_DOMAINS = ("github.example",)
    sign_in(client, provider, GITHUB)
    assert User.objects.get().email == "octocat@github.example"


def test_unverified_account_connects_no_provider(
    client: Client, provider: OpenIdProvider, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    user = User.objects.create_user("mara@acme.example", "a sentence works well")
    address = EmailAddress.objects.create(user=user, email=user.email, primary=True)
    sign_in_by_password(client, user)
    client.post(reverse("account_reauthenticate"), {"password": "a sentence works well"})
    response = sign_in(client, provider, process="connect")
    assert response.status_code == 409
    assert "Verify your e-mail address first" in response.content.decode()
    assert not SocialAccount.objects.exists()
    address.verified = True
    address.save()
    sign_in(client, provider, process="connect")
    assert SocialAccount.objects.get().user == user
