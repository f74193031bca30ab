"""`/p/<project>/settings/keys/<key>/file`, key files for Cloud Profiler's agents."""

import asyncio

import pytest
from django.test import Client

from projects import account_limits
from projects.credentials import authentication, keys
from projects.models import ApiKey, KeyFile, Project, User
from tests.frontend.html import render_html
from tests.key_files import signed


@pytest.fixture
def key(project: Project, alice: User) -> ApiKey:
    return keys.create(project, "production", actor=alice)[0]


@pytest.fixture
def address(key: ApiKey) -> str:
    return f"/p/acme-shop/settings/keys/{key.key_id}/file"


def test_only_owners_and_admins_download(
    client: Client, bob: User, charlie: User, address: str
) -> None:
    for user, status in ((None, 302), (bob, 403), (charlie, 404)):
        if user:
            client.force_login(user)
        for ask in (client.get, client.post):
            assert ask(address).status_code == status
    assert not KeyFile.objects.exists()


def test_key_list_links_to_the_key_file(client: Client, alice: User, address: str) -> None:
    client.force_login(alice)
    assert f'href="{address}"' in render_html(client.get("/p/acme-shop/settings/keys"))
    page = render_html(client.get(address))
    assert "Key file of “production”" in page
    dialog = render_html(client.get(address, headers={"HX-Request": "true"}))
    assert "<dialog" in dialog
    assert not KeyFile.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["standard", "node"])
def test_token_signed_with_the_file_gives_access_to_the_project(
    client: Client, alice: User, key: ApiKey, address: str, kind: str
) -> None:
    client.force_login(alice)
    response = client.post(address, {"kind": kind})
    file = response.json()
    name = f"flamewatch-acme-shop-{file['private_key_id'][:8]}.json"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "no-store" in response.headers["Cache-Control"]
    assert ("universe_domain" in file) == (kind == "node")
    assert KeyFile.objects.get().created_by == alice
    assert asyncio.run(authentication.authenticate(signed(file))).key == key.pk


def test_every_download_is_a_new_file(client: Client, alice: User, address: str) -> None:
    client.force_login(alice)
    first, second = (client.post(address).json() for _ in range(2))
    assert first["private_key"] != second["private_key"]
    assert KeyFile.objects.count() == 2


def test_file_over_the_limit_is_400_with_the_limit(
    client: Client, alice: User, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_limits, "MAX_KEY_FILES", 0)
    client.force_login(alice)
    response = client.post(address)
    assert response.status_code == 400
    assert "Key files of “production”: 0; the limit is 0." in render_html(response)


def test_key_file_of_a_revoked_key_is_404(
    client: Client, alice: User, key: ApiKey, address: str
) -> None:
    keys.revoke(key)
    client.force_login(alice)
    assert client.get(address).status_code == client.post(address).status_code == 404
