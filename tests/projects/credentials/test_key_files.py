"""Key files and the tokens that are signed with them."""

import asyncio
import json
import time
from typing import Any

import jwt
import pytest
from pytest_django import Settings

from projects import account_limits
from projects.account_limits import LimitReached
from projects.credentials import authentication, key_files, keys, signed_tokens
from projects.credentials.authentication import Access, KeyRejected
from projects.credentials.key_files import KeyFileKind
from projects.models import ApiKey, AuditEntry, KeyFile, Project, User
from tests.key_files import claims_of, signed, signed_by_java
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def key(project: Project) -> ApiKey:
    return keys.create(project, "checkout")[0]


@pytest.fixture
def file(key: ApiKey) -> dict[str, str]:
    return key_files.create(key, KeyFileKind.STANDARD)


def authenticate(text: str) -> Access:
    return asyncio.run(authentication.authenticate(text))


def rejection(text: str) -> str:
    with pytest.raises(KeyRejected) as raised:
        authenticate(text)
    return str(raised.value)


def test_a_file_has_the_fields_of_a_service_account(
    key: ApiKey, settings: Settings, alice: User
) -> None:
    settings.FLAMEWATCH_URL = "https://flamewatch.example.com"
    file = key_files.create(key, KeyFileKind.STANDARD, actor=alice)
    row = KeyFile.objects.get()
    assert file["type"] == "service_account"
    assert file["project_id"] == "acme-shop"
    assert file["private_key_id"] == row.file_id
    assert file["token_uri"] == "https://flamewatch.example.com/token"
    assert "universe_domain" not in file
    assert (row.key, row.created_by) == (key, alice)
    entry = AuditEntry.objects.get(action="key_file.create")
    assert entry.detail == {"key": key.prefix, "file": row.file_id}


def test_a_file_for_node_names_a_universe(key: ApiKey) -> None:
    file = key_files.create(key, KeyFileKind.NODE)
    assert file["universe_domain"] not in ("", "googleapis.com")


def test_the_private_key_is_not_stored(file: dict[str, str]) -> None:
    stored = json.dumps([list(row) for row in KeyFile.objects.values_list()], default=str)
    assert "PUBLIC KEY" in stored
    assert "PRIVATE" not in stored


def test_a_key_has_a_limited_number_of_files(key: ApiKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_limits, "MAX_KEY_FILES", 1)
    key_files.create(key, KeyFileKind.STANDARD)
    with pytest.raises(LimitReached, match="Key files of “checkout”: 1; the limit is 1"):
        key_files.create(key, KeyFileKind.NODE)
    assert KeyFile.objects.count() == 1


@pytest.mark.parametrize(
    "audience",
    [
        "https://oauth2.googleapis.com/token",
        "http://127.0.0.1:8000/token",
        None,
    ],
)
def test_signed_token_gives_access_to_the_project_of_its_key(
    file: dict[str, str], key: ApiKey, audience: str | None
) -> None:
    access = authenticate(signed(file, aud=audience))
    assert (access.key, access.project_id) == (key.pk, "acme-shop")
    assert (access.may_write, access.may_read) == (True, False)


def test_padded_tokens_of_java_are_accepted(file: dict[str, str], key: ApiKey) -> None:
    token = signed_by_java(file)
    assert "=" in token
    assert authenticate(token).key == key.pk


def test_access_token_authenticates_like_its_key(file: dict[str, str], key: ApiKey) -> None:
    token = signed_tokens.issue_access_token(signed(file))
    assert authenticate(token).key == key.pk
    assert token.isascii()


def test_cached_tokens_cost_no_query(file: dict[str, str]) -> None:
    token = signed(file)
    authenticate(token)
    with count_queries() as queries:
        authenticate(token)
        authenticate(signed_tokens.issue_access_token(token))
    assert queries == []


def test_revoking_the_key_ends_its_tokens(file: dict[str, str], key: ApiKey) -> None:
    token = signed(file)
    access_token = signed_tokens.issue_access_token(token)
    authenticate(token)
    authenticate(access_token)
    keys.revoke(key)
    for text in (token, access_token):
        assert "not valid" in rejection(text)


def test_an_access_token_expires(file: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    token = signed_tokens.issue_access_token(signed(file))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + signed_tokens.ACCESS_TOKEN_SECONDS + 1)
    assert "has expired" in rejection(token)


def test_times_of_a_signed_token_are_checked(file: dict[str, str]) -> None:
    now = int(time.time())
    assert "has expired" in rejection(signed(file, iat=now - 4000, exp=now - 400))
    assert "clock" in rejection(signed(file, iat=now + 400, exp=now + 800))
    assert "valid for 3600 s" in rejection(signed(file, exp=now + 100_000))
    assert "not valid" in rejection(signed(file, exp=None))
    assert "not valid" in rejection(signed(file, iat=None))
    authenticate(signed(file, iat=now + 30))  # clocks differ a little


def test_forged_tokens_are_rejected(file: dict[str, str], key: ApiKey, project: Project) -> None:
    other = key_files.create(keys.create(project, "other")[0], KeyFileKind.STANDARD)
    good = signed(file)
    kid = {"kid": file["private_key_id"]}
    forged = [
        good[:-8] + "AAAAAAAA",
        signed(file, iss=other["client_email"]),
        signed(file | {"private_key": other["private_key"]}),
        signed(file | {"private_key_id": "0" * 40}),
        signed(file | {"private_key_id": "not hexadecimal"}),
        jwt.encode(claims_of(file), "", "none", headers=kid),
        jwt.encode(claims_of(file), KeyFile.objects.filter(key=key)[0].file_id * 2, headers=kid),
        "ey.ey.ey",
        "ey" + "[" * 4000 + ".e.e",
        f"{signed_tokens.ACCESS_TOKEN_PREFIX}{file['private_key_id']}.1.forged",
        signed_tokens.issue_access_token(good)[:-1] + "-",
    ]
    for text in forged:
        assert "not valid" in rejection(text), text
    assert "4,096" in rejection(good + "=" * 4096)


def test_an_unknown_key_file_is_looked_up_once(file: dict[str, str]) -> None:
    token = signed(file | {"private_key_id": "0" * 40})
    with count_queries() as queries:
        for _ in range(3):
            rejection(token)
    assert len(queries) == 1


def payload(token: str) -> Any:
    return jwt.decode(token, options={"verify_signature": False})


def test_token_with_the_lifetime_of_googles_libraries_is_accepted(file: dict[str, str]) -> None:
    token = signed(file)
    lifetime = payload(token)["exp"] - payload(token)["iat"]
    assert lifetime == signed_tokens.MAX_LIFETIME_SECONDS
    authenticate(token)
