"""Passkeys: malformed credentials, bounds, and the host that browsers bind them to."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from profiler_site.configuration.checks import check_passkeys
from projects.accounts import passkeys
from projects.models import User

pytestmark = pytest.mark.django_db

PASSWORD = "a sentence works well"
AJAX = {"Accept": "application/json"}


def encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def credential(client_data: bytes, **response: str) -> dict[str, Any]:
    values = {"clientDataJSON": encode(client_data), **response}
    return {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": values}


MALFORMED: list[object] = [
    [],
    0,
    {},
    {"response": []},
    {"response": {"userHandle": "////"}},
    credential(b"no JSON", attestationObject="AAAA"),
    credential(b"{}", attestationObject=encode(b"\xa1\x61")),
    credential(b"{}", attestationObject=encode(b"\x81" * 500)),
    credential(b'{"type":"webauthn.create","challenge":"","origin":""}', attestationObject="oA"),
    credential(b"[]", authenticatorData="AAAA", signature="", userHandle=encode(b"1")),
    credential(b"{}", authenticatorData="", signature="AAAA", userHandle=encode(b"zzzzzzzzzzzzz")),
    credential(b"{}", authenticatorData="AAAA", signature=5, userHandle=encode(b"1")),  # type: ignore[arg-type]
    {"id": "x" * passkeys.MAX_CREDENTIAL},
]


@pytest.fixture
def mara(client: Client) -> User:
    """Return a person whose session has confirmed the password."""
    user = User.objects.create_user("mara@example.org", PASSWORD)
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return user


@pytest.mark.parametrize("value", MALFORMED, ids=str)
def test_malformed_credential_is_an_error_of_the_form(
    client: Client, mara: User, value: object
) -> None:
    client.get(reverse("mfa_add_webauthn"))
    data = {"name": "Phone", "credential": json.dumps(value)}
    assert client.post(reverse("mfa_add_webauthn"), data).status_code == 200
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("value", MALFORMED, ids=str)
def test_malformed_credential_signs_nobody_in(client: Client, value: object) -> None:
    User.objects.create_user("mara@example.org", PASSWORD)
    assert client.get(reverse("mfa_login_webauthn"), headers=AJAX).status_code == 200
    response = client.post(reverse("mfa_login_webauthn"), {"credential": json.dumps(value)})
    assert response.headers["Location"] == reverse("account_login")
    assert "_auth_user_id" not in client.session


def test_deeply_nested_credential_is_rejected(client: Client) -> None:
    response = client.post(reverse("mfa_login_webauthn"), {"credential": "[" * 9_999})
    assert response.headers["Location"] == reverse("account_login")


def test_adding_asks_for_the_password(client: Client, alice: User) -> None:
    client.force_login(alice)
    response = client.get(reverse("mfa_add_webauthn"))
    assert response.headers["Location"].startswith(reverse("account_reauthenticate"))


def test_registration_is_bound_to_the_public_host(
    client: Client, mara: User, settings: Settings
) -> None:
    settings.FLAMEWATCH_URL = "https://profiles.acme.example"
    page = client.get(reverse("mfa_add_webauthn"), HTTP_HOST="localhost")
    options = page.context["js_data"]["creation_options"]["publicKey"]
    assert options["rp"] == {"id": "profiles.acme.example", "name": "Flamewatch"}


def test_more_passkeys_than_the_limit_are_rejected(client: Client, mara: User) -> None:
    client.get(reverse("mfa_add_webauthn"))
    for _number in range(passkeys.MAX_PASSKEYS):
        Authenticator.objects.create(user=mara, type="webauthn", data={"name": "x"})
    form = passkeys.AddPasskeyForm({"credential": "{}"}, user=mara)
    assert not form.is_valid()
    assert "at most 20 passkeys" in str(form.errors)


@pytest.mark.parametrize("page", ["mfa_edit_webauthn", "mfa_remove_webauthn"])
def test_passkey_of_another_person_is_not_found(
    client: Client, mara: User, alice: User, page: str
) -> None:
    row = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Key"})
    address = reverse(page, args=[row.pk])
    assert client.get(address).status_code == 404
    assert client.post(address, {"name": "Mine"}).status_code == 404
    row.refresh_from_db()
    assert row.data == {"name": "Key"}


@pytest.mark.parametrize(
    ("url", "problems"),
    [
        ("https://profiles.acme.example", 0),
        ("http://localhost:8000", 0),
        ("http://profiles.acme.example", 1),
        ("https://10.0.0.1", 1),
        ("https://[::1]:8000", 1),
    ],
)
def test_check_requires_an_address_at_which_passkeys_work(
    settings: Settings, url: str, problems: int
) -> None:
    settings.FLAMEWATCH_URL = url
    assert len(check_passkeys(None)) == problems
    settings.PASSKEYS = False
    assert not check_passkeys(None)
