"""OAuth for assistants: a person allows a program to read their projects."""

import json
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from projects import account_limits, tasks
from projects.credentials import authorization_codes
from projects.models import AccessToken, AuditEntry, AuthorizationCode, User
from tests.frontend.html import read_forward, render_html

pytestmark = pytest.mark.django_db

SERVER = "http://testserver"
CALLBACK = "https://assistant.example/callback"
VERIFIER = "v" * 43
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def register(*uris: str, name: str = "Assistant") -> Any:
    document = {"client_name": name, "redirect_uris": uris or (CALLBACK,)}
    return Client().post("/oauth/register", json.dumps(document), "application/json")


@pytest.fixture
def request_fields() -> dict[str, str]:
    """Return the parameters of a valid authorization request."""
    return {
        "client_id": register().json()["client_id"],
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": f"{SERVER}/mcp",
        "scope": "read",
        "state": "s&t=1",
    }


def returned(response: Any) -> dict[str, str]:
    """Return the parameters with which the browser is led back to the program."""
    address = read_forward(response)
    assert address.startswith(f"{CALLBACK}?")
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def approve(client: Client, fields: dict[str, str], **changes: str) -> dict[str, str]:
    form = fields | {"decision": "approve", "days": "90"} | changes
    return returned(client.post("/oauth/authorize", form))


def exchange(fields: dict[str, str], code: str, **changes: str) -> Any:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": VERIFIER,
        "client_id": fields["client_id"],
        "redirect_uri": fields["redirect_uri"],
        "resource": f"{SERVER}/mcp",
    }
    return Client().post("/oauth/token", form | changes)


@pytest.fixture
def person(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def test_program_gets_a_token_that_reads_once(
    person: Client, alice: User, request_fields: dict[str, str]
) -> None:
    text = render_html(person.get("/oauth/authorize", request_fields))
    assert "“Assistant”" in text
    assert alice.email in text
    assert "assistant.example" in text
    back = approve(person, request_fields)
    assert (back["state"], back["iss"]) == ("s&t=1", SERVER)
    assert not AccessToken.objects.exists()  # its text is never stored: it is made when taken
    response = exchange(request_fields, back["code"])
    document = response.json()
    assert response.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert document["token_type"] == "Bearer"
    assert 89 * 86_400 < document["expires_in"] <= 90 * 86_400
    row = AccessToken.objects.get()
    assert (row.user, row.name, row.scopes) == (alice, "Assistant", ["read"])
    assert document["access_token"].startswith(row.prefix)
    assert AuditEntry.objects.filter(action="token.create", actor=alice).exists()
    again = exchange(request_fields, back["code"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"code_verifier": "w" * 43},
        {"code_verifier": ""},
        {"redirect_uri": "https://assistant.example/other"},
        {"client_id": "another"},
        {"code": "guessed"},
    ],
    ids=str,
)
def test_code_is_bound_to_the_request_that_it_was_given_for(
    person: Client, request_fields: dict[str, str], change: dict[str, str]
) -> None:
    code = approve(person, request_fields)["code"]
    response = exchange(request_fields, **({"code": code} | change))
    assert (response.status_code, response.json()["error"]) == (400, "invalid_grant")
    assert not AccessToken.objects.exists()
    if "code" not in change:  # lost by the first attempt
        assert exchange(request_fields, code).status_code == 400


def test_code_expires(person: Client, request_fields: dict[str, str]) -> None:
    code = approve(person, request_fields)["code"]
    assert code not in str(AuthorizationCode.objects.values().get())
    AuthorizationCode.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert exchange(request_fields, code).status_code == 400
    tasks.purge_sessions()
    assert not AuthorizationCode.objects.exists()


def test_person_has_one_open_code(person: Client, request_fields: dict[str, str]) -> None:
    first = approve(person, request_fields)["code"]
    second = approve(person, request_fields)["code"]
    assert exchange(request_fields, first).status_code == 400
    assert exchange(request_fields, second).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_concurrent_attempts_get_one_token(person: Client, request_fields: dict[str, str]) -> None:
    code = approve(person, request_fields)["code"]

    def attempt(_nth: int) -> int:
        try:
            status: int = exchange(request_fields, code).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(attempt, range(4)))
    assert statuses == [200, 400, 400, 400]
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"resource": "https://another.example/mcp"}, "invalid_target"),
    ],
    ids=str,
)
def test_wrong_request_goes_back_to_the_program(
    person: Client, request_fields: dict[str, str], change: dict[str, str], error: str
) -> None:
    fields = request_fields | change
    back = returned(person.get("/oauth/authorize", fields))
    assert (back["error"], back["state"]) == (error, "s&t=1")
    # A form cannot get past the check of the page that it is on.
    assert approve(person, fields)["error"] == error
    assert not AuthorizationCode.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "https://assistant.example/callback/"},
        {"redirect_uri": "https://assistant.example/callback?x=1"},
        {"redirect_uri": ""},
        {"client_id": ""},
        {"client_id": "x" * 10_000},
        {"client_id": "WyJhIl0:1rZ:forged"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_nobody_is_sent_to_an_address_that_is_not_registered(
    person: Client, request_fields: dict[str, str], change: dict[str, str]
) -> None:
    fields = request_fields | change
    form = fields | {"decision": "approve", "days": "30"}
    for response in (
        person.get("/oauth/authorize", fields),
        person.post("/oauth/authorize", form),
        person.post("/oauth/authorize", form | {"decision": "deny"}),
    ):
        assert response.status_code == 400
        assert "evil" not in response.content.decode()
        assert "http-equiv" not in response.content.decode()
    assert not AuthorizationCode.objects.exists()


@pytest.mark.parametrize(
    ("registered", "used", "is_same"),
    [
        ("http://127.0.0.1/callback", "http://127.0.0.1:39211/callback", True),
        ("http://localhost:1234/callback", "http://localhost:5678/callback", True),
        ("http://[::1]/callback", "http://[::1]:5678/callback", True),
        ("http://127.0.0.1", "http://127.0.0.1:33418/", True),
        ("https://a.example", "https://a.example/", False),
        ("http://localhost:1234/callback", "http://127.0.0.1:1234/callback", False),
        ("http://localhost/callback", "http://localhost:5678/other", False),
        ("http://localhost/callback", "http://localhost:80@evil.example/callback", False),
        ("http://localhost/callback", "http://x@localhost:80/callback", False),
        ("http://localhost/callback", "https://localhost:80/callback", False),
        ("https://a.example/callback", "https://a.example:8443/callback", False),
        ("cursor://anysphere.cursor-mcp/oauth", "cursor://anysphere.cursor-mcp/oauth", True),
        ("cursor://anysphere.cursor-mcp/oauth", "cursor://evil/oauth", False),
    ],
)
def test_port_on_the_persons_machine_is_free(
    person: Client, request_fields: dict[str, str], registered: str, used: str, is_same: bool
) -> None:
    client_id = register(registered).json()["client_id"]
    fields = request_fields | {"client_id": client_id, "redirect_uri": used}
    response = person.get("/oauth/authorize", fields)
    assert response.status_code == (200 if is_same else 400)


@pytest.mark.parametrize(
    "uri",
    [
        *("javascript:alert(1)", "javascript://a.example/%0aalert(1)", "data:text/html,x"),
        *("http://a.example/", "ftp://a.example/", "file:///etc/passwd", "//a.example/", "/x", ""),
        *("https://", "https://a@b.example/", "https://a.example/#x", "https://a.example:x/"),
        *("https://a.example/ x", "https://a.example/\\b", 'https://a.example/"x', "https://ä.de/"),
        "https://a.example/" + "x" * 500,
    ],
)
def test_redirect_uri_that_is_not_supported_is_not_registered(uri: str) -> None:
    response = register(uri)
    assert response.status_code == 400
    assert response.json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"{", b'{"redirect_uris": "x"}', b'{"redirect_uris": [1]}', b"[" * 10_000),
        *(b'{"redirect_uris": ["https://a.example/"], "client_name": 1}', b"\xff", b"x" * 30_000),
    ],
    ids=lambda body: body[:20].decode("latin-1"),
)
def test_wrong_registration_is_400(body: bytes) -> None:
    response = Client().post("/oauth/register", body, "application/json")
    assert (response.status_code, response.json()["error"]) == (400, "invalid_client_metadata")


def test_registration_as_a_form_is_400() -> None:
    assert Client().post("/oauth/register", {"client_name": "x"}).status_code == 400


def test_too_many_redirect_uris_are_rejected() -> None:
    uris = [f"https://a.example/{nth}" for nth in range(authorization_codes.MAX_URIS + 1)]
    assert register(*uris).json()["error"] == "invalid_redirect_uri"


def test_name_of_a_program_is_text(person: Client, request_fields: dict[str, str]) -> None:
    client_id = register(name="<b>Bank</b>" + "x" * 100).json()["client_id"]
    fields = request_fields | {"client_id": client_id}
    page = person.get("/oauth/authorize", fields).content.decode()
    assert f"“&lt;b&gt;Bank&lt;/b&gt;{'x' * 49}”" in page


@pytest.mark.parametrize(
    ("sent", "shown"),
    [("a\0b", "ab"), ("\ud800c", "c"), ("\u202ed\n", "d"), ("  ", "?"), ("ﷺ", "ﷺ")],
    ids=ascii,
)
def test_name_has_printable_characters_only(
    person: Client, request_fields: dict[str, str], sent: str, shown: str
) -> None:
    fields = request_fields | {"client_id": register(name=sent).json()["client_id"]}
    assert f"“{shown}”" in person.get("/oauth/authorize", fields).content.decode()
    assert exchange(fields, approve(person, fields)["code"]).status_code == 200
    assert AccessToken.objects.get().name == shown


def test_longest_redirect_uri_with_a_longer_port_is_not_the_programs(person: Client) -> None:
    registered = "http://localhost/".ljust(authorization_codes.MAX_URI_LENGTH, "x")
    used = registered.replace("localhost", "localhost:54321")
    fields = {"client_id": register(registered).json()["client_id"], "redirect_uri": used}
    assert person.get("/oauth/authorize", fields).status_code == 400


def test_token_reads_whatever_scope_was_asked_for(
    person: Client, request_fields: dict[str, str]
) -> None:
    fields = request_fields | {"scope": "openid offline_access manage"}
    document = exchange(fields, approve(person, fields)["code"]).json()
    assert document["scope"] == "read"
    assert AccessToken.objects.get().scopes == ["read"]


def test_denial_goes_back_to_the_program(person: Client, request_fields: dict[str, str]) -> None:
    back = approve(person, request_fields, decision="deny")
    assert back["error"] == "access_denied"
    assert "code" not in back
    assert not AuthorizationCode.objects.exists()


def test_approval_needs_a_session_and_a_csrf_token(
    alice: User, request_fields: dict[str, str]
) -> None:
    form = request_fields | {"decision": "approve", "days": "30"}
    begun = Client().get("/oauth/authorize", request_fields)
    assert begun.headers["Location"].startswith("/account/login/?next=/oauth/authorize")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.post("/oauth/authorize", form).status_code == 403
    assert not AuthorizationCode.objects.exists()


def test_person_without_room_for_a_token_reads_why(
    person: Client, request_fields: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_limits, "MAX_TOKENS", 0)
    form = request_fields | {"decision": "approve", "days": "30"}
    response = person.post("/oauth/authorize", form)
    assert response.status_code == 400
    assert "the limit is 0" in render_html(response)


def test_inactive_account_gives_no_token(
    person: Client, alice: User, request_fields: dict[str, str]
) -> None:
    code = approve(person, request_fields)["code"]
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert exchange(request_fields, code).json()["error"] == "invalid_grant"
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"resource": "https://another.example/"}, "invalid_target"),
    ],
    ids=str,
)
def test_wrong_token_request_names_its_error(
    person: Client, request_fields: dict[str, str], change: dict[str, str], error: str
) -> None:
    code = approve(person, request_fields)["code"]
    assert exchange(request_fields, code, **change).json()["error"] == error
