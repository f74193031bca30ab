"""Single sign-on with a real OpenID provider: pages, codes and tokens of django-allauth's."""

import html
import re
from collections.abc import Iterator

import httpx
import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from pytest_django import Settings

from profiler_site.configuration.sign_on_providers import OpenIdConnectClient, build
from projects.models import User
from tests.identity_provider.server import (
    CLIENT_ID,
    CLIENT_SECRET,
    PASSWORD,
    IdentityProvider,
    running_provider,
)
from tests.projects.accounts.test_single_sign_on import LOGIN, begin, connect, is_signed_in

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.real]
CALLBACK = f"{LOGIN}callback/"
MARA = "mara@acme.example"


@pytest.fixture(scope="module")
def running() -> Iterator[IdentityProvider]:
    with running_provider() as provider:
        provider.add_client(f"http://testserver{CALLBACK}")
        yield provider


@pytest.fixture
def provider(running: IdentityProvider, settings: Settings) -> IdentityProvider:
    configure(settings, running, CLIENT_SECRET)
    return running


def configure(settings: Settings, provider: IdentityProvider, secret: str) -> None:
    none = OpenIdConnectClient("google", "Google", "", "", "")
    oidc = OpenIdConnectClient("oidc", "Acme Login", provider.url, CLIENT_ID, secret)
    settings.SOCIALACCOUNT_PROVIDERS = build(oidc=oidc, google=none, github=("", ""))


def authorize(client: Client, email: str, action: str = "grant") -> str:
    """Sign a person in at the provider, in a browser without cookies; return the callback."""
    with httpx.Client(follow_redirects=True) as browser:
        page = browser.get(begin(client))
        credentials = {"login": email, "password": PASSWORD}
        consent = browser.post(page.url, data=credentials | _hidden_fields(page))
        assert "Authorize Flamewatch" in consent.text, consent.text
        form = _hidden_fields(consent) | {
            "scopes": ["openid", "profile", "email"],
            "action": action,
        }
        address = consent.url.copy_with(query=None)
        response = browser.post(address, data=form, follow_redirects=False)
    location = response.headers["Location"]
    assert location.startswith(f"http://testserver{CALLBACK}?")
    return str(location.removeprefix("http://testserver"))


def _hidden_fields(page: httpx.Response) -> dict[str, str]:
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text)
    return {name: html.unescape(value) for name, value in fields}


def test_new_person_gets_an_account_by_the_number_at_the_provider(
    client: Client, provider: IdentityProvider
) -> None:
    number = provider.add_person(MARA)
    client.get(authorize(client, MARA))
    assert is_signed_in(client)
    user = User.objects.get()
    assert user.email == MARA
    assert EmailAddress.objects.get(user=user).verified
    assert SocialAccount.objects.get().uid == number


def test_changed_address_signs_in_to_the_same_account(
    client: Client, provider: IdentityProvider, alice: User
) -> None:
    connect(alice, provider.add_person("before@acme.example"))
    provider.change_address("before@acme.example", "after@acme.example")
    client.get(authorize(client, "after@acme.example"))
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_address_of_another_account_does_not_sign_in_to_it(
    client: Client, provider: IdentityProvider, alice: User
) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    provider.add_person(alice.email)
    response = client.get(authorize(client, alice.email))
    assert response.status_code == 409
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def test_unverified_address_creates_no_account(client: Client, provider: IdentityProvider) -> None:
    provider.add_person("new@acme.example", verified=False)
    response = client.get(authorize(client, "new@acme.example"))
    assert response.status_code == 409
    assert "no verified e-mail address" in response.content.decode()
    assert not User.objects.exists()


def test_code_works_once(client: Client, provider: IdentityProvider) -> None:
    provider.add_person("once@acme.example")
    callback = authorize(client, "once@acme.example")
    client.get(callback)
    assert is_signed_in(client)
    client.logout()
    client.get(callback)
    assert not is_signed_in(client)


def test_code_of_another_browser_is_rejected(client: Client, provider: IdentityProvider) -> None:
    """The provider compares the verifier of the browser that began with the code's challenge."""
    provider.add_person("victim@acme.example")
    begun = begin(client)
    stolen = httpx.URL(authorize(Client(), "victim@acme.example")).params["code"]
    state = httpx.URL(begun).params["state"]
    client.get(CALLBACK, {"code": stolen, "state": state})
    assert not is_signed_in(client)
    assert not User.objects.exists()


def test_denied_consent_is_an_error_page(client: Client, provider: IdentityProvider) -> None:
    provider.add_person("denied@acme.example")
    response = client.get(authorize(client, "denied@acme.example", action="cancel"), follow=True)
    assert response.status_code == 200
    assert "cancelled" in response.content.decode().lower()
    assert not is_signed_in(client)


def test_wrong_secret_of_the_client_is_an_error_page(
    client: Client, provider: IdentityProvider, settings: Settings
) -> None:
    configure(settings, provider, "another")
    provider.add_person("secret@acme.example")
    response = client.get(authorize(client, "secret@acme.example"))
    assert "Location" not in response.headers
    assert not is_signed_in(client)
