"""`/p/<project>/settings`, the project with its keys and quotas."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from projects.credentials import keys
from projects.models import (
    ApiKey,
    AuditEntry,
    DayRejections,
    Member,
    Project,
    Quota,
    Role,
    User,
)
from projects.usage.day_usage import utc_day
from tests.frontend.html import render_html

SETTINGS, KEYS = "/p/acme-shop/settings", "/p/acme-shop/settings/keys"


@pytest.fixture
def key(project: Project, alice: User) -> ApiKey:
    return keys.create(project, "production", actor=alice)[0]


@pytest.fixture
def revoke(key: ApiKey) -> str:
    return f"{KEYS}/{key.key_id}/revoke"


def test_stranger_is_redirected_to_sign_in(client: Client, revoke: str) -> None:
    for address in (SETTINGS, KEYS, revoke):
        for ask in (client.get, client.post):
            assert ask(address).headers["Location"].startswith("/account/login/")


def test_outsider_gets_404(client: Client, charlie: User, revoke: str) -> None:
    client.force_login(charlie)
    for address in (SETTINGS, KEYS, revoke):
        for ask in (client.get, client.post):
            assert ask(address).status_code == 404
    assert ApiKey.objects.get().revoked is None


def test_member_reads_settings_and_gets_403_for_changes(
    client: Client, bob: User, revoke: str
) -> None:
    client.force_login(bob)
    page = render_html(client.get(SETTINGS))
    assert "production" in page
    assert "Your role in Acme Shop is member. Owners and admins can change this." in page
    assert 'method="post" action="/p/' not in page
    for address in (SETTINGS, KEYS, revoke):
        assert client.post(address, {"name": "x", "scope": "write"}).status_code == 403
    assert ApiKey.objects.get().revoked is None


def test_the_name_and_the_rate_can_be_changed(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.post(SETTINGS, {"name": "Acme", "rate": "0.5"}, follow=True)
    project.refresh_from_db()
    assert (project.name, project.profiles_per_minute) == ("Acme", 0.5)
    assert "Settings saved" in render_html(response)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor) == ("project.change", alice)
    assert entry.detail == {"changed": {"name": "Acme", "profiles_per_minute": 0.5}}


def test_a_rate_that_is_not_offered_is_rejected(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.post(SETTINGS, {"name": "Acme", "rate": "9000"})
    assert response.status_code == 400
    project.refresh_from_db()
    assert project.profiles_per_minute == 1.0
    assert 'name="rate" aria-invalid="true"' in render_html(response)


def test_a_rate_set_elsewhere_stays_as_it_is(client: Client, alice: User, project: Project) -> None:
    Project.objects.update(profiles_per_minute=3.0)
    client.force_login(alice)
    page = render_html(client.get(SETTINGS))
    assert '<option value="3.0" selected>3 per minute</option>' in page


def test_a_new_key_is_shown_once(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    response = client.post(KEYS, {"name": "laptop", "scope": "both"})
    found = re.search(r'<code id="new-key">(fw_\w{10}_\w{38})</code>', render_html(response))
    assert found
    row = ApiKey.objects.get()
    assert keys.matches(keys.parse(found[1]).secret, row.secret_hash)
    assert (row.name, row.may_write, row.may_read, row.created_by) == ("laptop", True, True, alice)
    assert "no-store" in response.headers["Cache-Control"]
    again = render_html(client.get(SETTINGS))
    assert found[1] not in again
    assert row.prefix in again


@pytest.mark.parametrize(
    ("scope", "may"), [("write", (True, False)), ("read", (False, True)), ("both", (True, True))]
)
def test_key_has_the_permissions_of_its_scope(
    client: Client, alice: User, project: Project, scope: str, may: tuple[bool, bool]
) -> None:
    client.force_login(alice)
    client.post(KEYS, {"name": "a key", "scope": scope})
    row = ApiKey.objects.get()
    assert (row.may_write, row.may_read) == may


def test_a_key_may_have_a_default_service(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    page = render_html(
        client.post(KEYS, {"name": "ebpf", "scope": "write", "default_service": "batch-jobs"})
    )
    assert ApiKey.objects.get().default_service == "batch-jobs"
    assert "Default service: batch-jobs" in page


def test_a_default_service_has_to_be_a_service_name(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    page = render_html(
        client.post(KEYS, {"name": "ebpf", "scope": "write", "default_service": "Batch Jobs"})
    )
    assert "Enter a service name: lower-case letters" in page
    assert not ApiKey.objects.exists()


def test_a_key_without_a_name_is_not_made(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    page = render_html(client.post(KEYS, {"name": "", "scope": "write"}))
    assert 'aria-invalid="true"' in page
    assert not ApiKey.objects.exists()


def test_htmx_request_gets_the_keys_only(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    form = {"name": "laptop", "scope": "write"}
    fragment = render_html(client.post(KEYS, form, headers={"HX-Request": "true"}))
    assert fragment.startswith('<section class="card" id="keys">')


def test_revocation_asks_for_confirmation(
    client: Client, alice: User, key: ApiKey, revoke: str
) -> None:
    client.force_login(alice)
    page = render_html(client.get(revoke))
    assert "Revoke “production”?" in page
    key.refresh_from_db()
    assert key.revoked is None


def test_a_revoked_key_stays_in_the_list(
    client: Client, alice: User, key: ApiKey, revoke: str
) -> None:
    client.force_login(alice)
    page = render_html(client.post(revoke, follow=True))
    key.refresh_from_db()
    assert key.revoked is not None
    assert "Key “production” revoked" in page
    assert key.prefix in page
    assert AuditEntry.objects.filter(action="key.revoke", actor=alice).count() == 1
    assert client.post(revoke).status_code == 404


def test_a_key_of_another_project_is_not_found(
    client: Client, charlie: User, key: ApiKey, project: Project
) -> None:
    client.force_login(charlie)
    client.post("/projects/new", {"name": "Other shop"})
    address = f"/p/other-shop/settings/keys/{key.key_id}/revoke"
    assert client.get(address).status_code == 404
    assert client.post(address).status_code == 404


def test_quotas_are_shown_with_what_is_used(client: Client, alice: User, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=50_000)
    client.force_login(alice)
    page = render_html(client.get(SETTINGS))
    assert "of 50,000" in page
    assert "of 20 GB" in page
    assert "16 MiB" in page
    assert "30 days" in page


def test_admin_creates_a_key(client: Client, bob: User, project: Project) -> None:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    client.force_login(bob)
    client.post(KEYS, {"name": "laptop", "scope": "write"})
    assert ApiKey.objects.count() == 1


def test_page_takes_ten_queries_at_most(
    client: Client,
    alice: User,
    project: Project,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(30):
        keys.create(project, f"key {number}", actor=alice)
    client.force_login(alice)
    with django_assert_max_num_queries(10):
        client.get(SETTINGS)


def test_rejected_requests_are_listed_by_reason(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert 'id="rejections"' not in render_html(client.get(SETTINGS))
    day = utc_day()
    for ago, count in ((0, 1_234), (6, 10), (7, 100)):
        DayRejections.objects.create(
            project=project,
            day=day - timedelta(days=ago),
            reason="profiles_per_minute",
            count=count,
        )
    page = render_html(client.get(SETTINGS))
    table = page.partition('id="rejections"')[2].partition("</table>")[0]
    assert "Profiles per minute" in table
    assert re.findall(r'class="num">\s*([\d,]+)', table) == ["1,234", "1,244"]
