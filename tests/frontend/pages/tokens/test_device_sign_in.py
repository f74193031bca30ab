"""Sign-in of a program by a code that a person confirms."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from projects import account_limits, tasks
from projects.credentials import access_tokens, device_sign_in
from projects.models import AccessToken, AuditEntry, DeviceSignIn, TokenScope, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

APPROVAL = {"decision": "approve", "name": "laptop", "scopes": ["read"], "days": "30"}


def begin(device: str = "laptop") -> dict[str, Any]:
    response = Client().post("/device/code", {"client_id": "x", "device_name": device})
    assert response.status_code == 200
    document: dict[str, Any] = response.json()
    return document


def poll(device_code: str) -> dict[str, Any]:
    response = Client().post("/device/token", {"device_code": device_code})
    document: dict[str, Any] = response.json()
    assert response.status_code == (200 if "access_token" in document else 400)
    return document


def test_program_gets_a_token_once_after_approval(client: Client, alice: User) -> None:
    begun = begin()
    assert re.fullmatch(r"[B-Z]{4}-[B-Z]{4}", begun["user_code"])
    assert poll(begun["device_code"])["error"] == "authorization_pending"
    client.force_login(alice)
    page = client.get(begun["verification_uri_complete"])
    text = render_html(page)
    assert "laptop" in text
    assert begun["user_code"] in text
    client.post("/device", APPROVAL | {"code": begun["user_code"].lower().replace("-", " ")})
    token = poll(begun["device_code"])["access_token"]
    row = AccessToken.objects.get()
    assert (row.user, row.name, row.scopes) == (alice, "laptop", ["read"])
    assert token.startswith(row.prefix)
    assert AuditEntry.objects.filter(action="token.create", actor=alice).exists()
    assert poll(begun["device_code"])["error"] == "expired_token"
    assert AccessToken.objects.count() == 1


def test_secret_is_stored_as_a_hash(alice: User) -> None:
    begun = begin()
    assert begun["device_code"] not in str(DeviceSignIn.objects.values().get())


def test_approval_needs_a_session_and_a_csrf_token(alice: User) -> None:
    begun = begin()
    form = APPROVAL | {"code": begun["user_code"]}
    assert "/account/login/" in Client().post("/device", form).headers["Location"]
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.post("/device", form).status_code == 403
    assert strict.get(begun["verification_uri_complete"]).status_code == 200
    assert poll(begun["device_code"])["error"] == "authorization_pending"


def test_denied_program_gets_no_token(client: Client, alice: User) -> None:
    begun = begin()
    client.force_login(alice)
    client.post("/device", {"code": begun["user_code"], "decision": "deny"})
    assert poll(begun["device_code"])["error"] == "access_denied"
    again = client.post("/device", APPROVAL | {"code": begun["user_code"]})
    assert again.status_code == 400
    assert not AccessToken.objects.exists()


def test_decided_code_cannot_be_taken_over(client: Client, alice: User, bob: User) -> None:
    begun = begin()
    client.force_login(alice)
    client.post("/device", APPROVAL | {"code": begun["user_code"]})
    client.force_login(bob)
    assert client.post("/device", APPROVAL | {"code": begun["user_code"]}).status_code == 400
    row = DeviceSignIn.objects.get()
    assert row.user == alice
    assert not device_sign_in.deny(row, bob)


def test_expired_code_gives_nothing(client: Client, alice: User) -> None:
    begun = begin()
    client.force_login(alice)
    client.post("/device", APPROVAL | {"code": begun["user_code"]})
    DeviceSignIn.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert poll(begun["device_code"])["error"] == "expired_token"
    tasks.purge_sessions()
    assert not DeviceSignIn.objects.exists()


def test_account_without_room_for_a_token_is_told(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_limits, "MAX_TOKENS", 1)
    first, second = begin(), begin()
    client.force_login(alice)
    for begun in (first, second):
        assert client.post("/device", APPROVAL | {"code": begun["user_code"]}).status_code == 200
    assert "access_token" in poll(first["device_code"])
    assert "the limit is 1" in poll(second["device_code"])["error_description"]
    third = client.post("/device", APPROVAL | {"code": begin()["user_code"]})
    assert third.status_code == 400
    assert "the limit is 1" in third.content.decode()


def test_account_that_was_closed_meanwhile_gets_no_token(client: Client, alice: User) -> None:
    begun = begin()
    client.force_login(alice)
    client.post("/device", APPROVAL | {"code": begun["user_code"]})
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert poll(begun["device_code"])["error"] == "access_denied"


def test_name_of_the_device_is_text(client: Client, alice: User) -> None:
    begun = begin("<script>alert(1)</script>" + "x" * 500)
    client.force_login(alice)
    page = client.get(begun["verification_uri_complete"]).content.decode()
    assert "<script>alert(1)" not in page
    assert len(DeviceSignIn.objects.get().device) == 60


def test_wrong_codes_are_limited(client: Client, alice: User) -> None:
    client.force_login(alice)
    statuses = [client.get("/device?code=BBBB-BBBB").status_code for _ in range(22)]
    assert statuses == [400] * 20 + [429] * 2
    begun = begin()
    assert client.post("/device", APPROVAL | {"code": begun["user_code"]}).status_code == 429


def test_new_codes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_sign_in, "MAX_OPEN", 2)
    statuses = [
        Client().post("/device/code", REMOTE_ADDR=f"192.0.2.{n}").status_code for n in "123"
    ]
    assert statuses == [200, 200, 429]


def test_codes_of_one_address_are_limited() -> None:
    statuses = [Client().post("/device/code").status_code for _ in range(31)]
    assert statuses == [200] * 30 + [429]


@pytest.mark.django_db(transaction=True)
def test_concurrent_polls_get_one_token(alice: User) -> None:
    row, device_code = device_sign_in.begin("laptop", "")
    assert device_sign_in.approve(row, alice, "laptop", [TokenScope.READ], 30)

    def take(_: int) -> bool:
        try:
            return "access_token" in poll(device_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, range(4))) == 1
    assert access_tokens.list_tokens(alice)[0].name == "laptop"
    assert AccessToken.objects.count() == 1
