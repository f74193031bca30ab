"""Page of a person's access tokens."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from projects.credentials import access_tokens
from projects.credentials.keys import parse
from projects.models import AccessToken, AuditEntry, Project, TokenScope, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

ADDRESS = "/account/tokens"
FORM = {"name": "laptop", "scopes": ["read", "manage"], "days": "90"}


def test_new_token_is_shown_once_and_stored_as_a_hash(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    page = client.post(ADDRESS, FORM)
    [text] = set(re.findall(r"fwp_\w{10}_\w{38}", page.content.decode()))
    row = AccessToken.objects.get()
    parts = parse(text, access_tokens.TOKEN_PREFIX)
    assert (row.user, row.token_id, row.scopes) == (alice, parts.key_id, ["read", "manage"])
    assert parts.secret not in str(AccessToken.objects.values().get())
    left = row.expires - timezone.now()
    assert timedelta(days=89) < left <= timedelta(days=90)
    again = client.get(ADDRESS)
    assert text not in again.content.decode()
    assert row.prefix in again.content.decode()
    assert again.headers["Cache-Control"].startswith("max-age=0")
    entry = AuditEntry.objects.get(action="token.create")
    assert (entry.project, entry.actor) == (project, alice)
    assert parts.secret not in str(entry.detail)


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"scopes": []}, {"scopes": ["root"]}, {"days": "1000"}]
)
def test_invalid_form_creates_nothing(
    client: Client, alice: User, changes: dict[str, object]
) -> None:
    client.force_login(alice)
    assert client.post(ADDRESS, FORM | changes).status_code == 400
    assert not AccessToken.objects.exists()


def test_tokens_above_the_limit_are_not_created(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.account_limits.MAX_TOKENS", 1)
    client.force_login(alice)
    client.post(ADDRESS, FORM)
    page = client.post(ADDRESS, FORM)
    assert page.status_code == 400
    assert "the limit is 1" in render_html(page)
    AccessToken.objects.update(expires=timezone.now())
    assert client.post(ADDRESS, FORM).status_code == 200  # expired ones do not count


def test_expired_token_is_listed_as_such(client: Client, alice: User) -> None:
    client.force_login(alice)
    client.post(ADDRESS, FORM)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=1))
    assert "expired" in render_html(client.get(ADDRESS))


def test_revoked_token_leaves_the_list(client: Client, alice: User) -> None:
    row, _text = access_tokens.create(alice, "laptop", [TokenScope.READ], 30)
    client.force_login(alice)
    address = f"{ADDRESS}/{row.token_id}/revoke"
    assert "Revoke “laptop”?" in render_html(client.get(address))
    page = client.post(address, follow=True)
    assert "No tokens yet" in render_html(page)
    assert client.post(address).status_code == 404
    assert AuditEntry.objects.get(action="token.revoke").actor == alice


def test_token_of_another_person_is_404(client: Client, alice: User, bob: User) -> None:
    row, _text = access_tokens.create(alice, "night job", [TokenScope.READ], 30)
    client.force_login(bob)
    assert row.name not in client.get(ADDRESS).content.decode()
    assert client.post(f"{ADDRESS}/{row.token_id}/revoke").status_code == 404
    row.refresh_from_db()
    assert row.revoked is None


def test_page_has_the_address_for_assistants(client: Client, alice: User) -> None:
    client.force_login(alice)
    page = client.get("/account/tokens").content.decode()
    assert f'id="mcp-url">{settings.FLAMEWATCH_URL}/mcp</pre>' in page
