"""POST /token: access tokens for tokens that are signed with a key file."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from ingest.cloud_profiler.token_endpoint import GRANT_TYPE, MAX_BODY_BYTES
from projects.credentials import key_files, keys
from projects.credentials.key_files import KeyFileKind
from projects.models import ApiKey, Project
from tests.ingest.client import Client
from tests.key_files import signed, signed_by_java

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row(project: Project) -> ApiKey:
    return keys.create(project, "checkout")[0]


@pytest.fixture
def file(row: ApiKey) -> dict[str, str]:
    return key_files.create(row, KeyFileKind.STANDARD)


@pytest.fixture
def nobody(project: Project) -> Client:
    return Client(project.project_id)


def ask(client: Client, assertion: str, **fields: str) -> httpx.Response:
    return client.request(
        "POST", "/token", data={"grant_type": GRANT_TYPE, "assertion": assertion} | fields
    )


def error_of(response: httpx.Response, status: int) -> Mapping[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["Cache-Control"] == "no-store"
    error: dict[str, Any] = response.json()
    return error


def test_the_token_is_a_credential_for_an_hour(nobody: Client, file: dict[str, str]) -> None:
    response = ask(nobody, signed(file))
    message = response.json()
    assert (message["token_type"], message["expires_in"]) == ("Bearer", 3600)
    assert response.headers["Cache-Control"] == "no-store"
    agent = Client(nobody.project, message["access_token"])
    request = agent.captured_request()
    assert agent.upload(request["name"]).status_code == 200


def test_agents_that_sign_for_themselves_need_no_token(
    nobody: Client, file: dict[str, str]
) -> None:
    for token in (signed(file, aud=None, scope="x"), signed_by_java(file)):
        response = Client(nobody.project, token).offline()
        assert response.status_code == 200, response.text


def test_revoked_key_gets_no_token(nobody: Client, file: dict[str, str], row: ApiKey) -> None:
    token = ask(nobody, signed(file)).json()["access_token"]
    keys.revoke(row)
    error = error_of(ask(nobody, signed(file)), 400)
    assert error["error"] == "invalid_grant"
    assert "not valid" in error["error_description"]
    assert Client(nobody.project, token).handshake().status_code == 401


def test_malformed_token_requests_are_rejected(
    nobody: Client, file: dict[str, str], key: str
) -> None:
    good = signed(file)
    for assertion in ("", key, good[:-4] + "AAAA"):
        assert error_of(ask(nobody, assertion), 400)["error"] == "invalid_grant"
    wrong_grant = ask(nobody, good, grant_type="password")
    assert "grant_type: must be" in error_of(wrong_grant, 400)["error_description"]
    many = ask(nobody, good, **{str(number): "x" for number in range(10)})
    assert "at most 10 fields" in error_of(many, 400)["error_description"]
    large = ask(nobody, "x" * MAX_BODY_BYTES)
    assert f"{MAX_BODY_BYTES:,} bytes" in error_of(large, 413)["error_description"]
    binary = nobody.request("POST", "/token", content=b"\xff")
    assert error_of(binary, 400)["error"] == "invalid_request"
    assert error_of(nobody.request("GET", "/token"), 405)["error"] == "invalid_request"


def test_access_token_is_not_exchanged_for_another(nobody: Client, file: dict[str, str]) -> None:
    token = ask(nobody, signed(file)).json()["access_token"]
    assert error_of(ask(nobody, token), 400)["error"] == "invalid_grant"


def test_plain_http_is_rejected_with_a_public_https_url(
    nobody: Client, file: dict[str, str], settings: Settings
) -> None:
    settings.BEHIND_TLS = True
    settings.TRUSTED_PROXIES = ()
    response = nobody.request("POST", "/token", data={}, headers={"X-Forwarded-For": "192.0.2.1"})
    assert response.status_code == 403
