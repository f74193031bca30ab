"""`/p/<project>/settings/keys`: list, create, rotate, change and revoke API keys."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from projects.credentials import keys
from projects.models import ApiKey, AuditEntry, Member, Project, Role, User
from tests.frontend.html import render_html

KEYS = "/p/acme-shop/settings/keys"
DAY = timedelta(days=1)


@pytest.fixture
def key(project: Project, alice: User) -> ApiKey:
    return keys.create(project, "production", actor=alice)[0]


@pytest.fixture
def revoke(key: ApiKey) -> str:
    return f"{KEYS}/{key.key_id}/revoke"


def test_a_new_key_is_shown_once(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    response = client.post(KEYS, {"name": "laptop", "scope": "both"})
    found = re.search(r'<code id="new-key">(fw_\w{10}_\w{38})</code>', render_html(response))
    assert found
    row = ApiKey.objects.get()
    assert keys.matches(keys.parse(found[1]).secret, row.secret_hash)
    assert (row.name, row.may_write, row.may_read, row.created_by) == ("laptop", True, True, alice)
    assert "no-store" in response.headers["Cache-Control"]
    again = render_html(client.get(KEYS))
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
        client.get(KEYS)


def test_stranger_is_redirected_to_sign_in(client: Client, revoke: str) -> None:
    for address in (KEYS, revoke):
        for ask in (client.get, client.post):
            assert ask(address).headers["Location"].startswith("/account/login/")


def test_outsider_gets_404(client: Client, charlie: User, revoke: str) -> None:
    client.force_login(charlie)
    for address in (KEYS, revoke):
        for ask in (client.get, client.post):
            assert ask(address).status_code == 404
    assert ApiKey.objects.get().revoked is None


def test_member_reads_the_list_and_gets_403_for_changes(
    client: Client, bob: User, revoke: str
) -> None:
    client.force_login(bob)
    page = render_html(client.get(KEYS))
    assert "production" in page
    assert "Your role in Acme Shop is member. Owners and admins can change this." in page
    assert 'method="post" action="/p/' not in page
    rotate, change = revoke.replace("revoke", "rotate"), revoke.replace("revoke", "change")
    for address in (KEYS, revoke, rotate, change):
        assert client.post(address, {"name": "x", "scope": "write"}).status_code == 403
    assert ApiKey.objects.get().revoked is None


def post_new(client: Client, **fields: str) -> str:
    return render_html(client.post(KEYS, {"name": "ci", "scope": "write", **fields}))


def new_secret(page: str) -> str:
    found = re.search(r'<code id="new-key">(fw_\w{10}_\w{38})</code>', page)
    assert found
    return found[1]


@pytest.mark.parametrize("days", [30, 90, 365])
def test_key_expires_after_the_chosen_days(
    days: int, client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    post_new(client, expiry=str(days))
    expires = ApiKey.objects.get().expires
    assert expires is not None
    assert abs(expires - timezone.now() - days * DAY) < timedelta(minutes=1)


@pytest.mark.parametrize("expiry", ["never", ""])
def test_key_without_an_expiry_never_expires(
    expiry: str, client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    post_new(client, expiry=expiry)
    assert ApiKey.objects.get().expires is None


def test_key_is_valid_until_the_end_of_the_chosen_day(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    day = timezone.now() + 40 * DAY
    post_new(client, expiry="date", date=f"{day:%Y-%m-%d}")
    end = datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)
    assert ApiKey.objects.get().expires == end


@pytest.mark.parametrize(
    ("sent", "hours"),
    [
        ("{yesterday}T23:59:59.000Z", 0),  # not the day's end in any time zone
        ("{day}T09:59:59.000Z", -14),
        ("{day}T22:59:59.000Z", -1),
        ("{tomorrow}T07:59:59.000Z", 8),
        ("soon", 0),
    ],
)
def test_chosen_day_ends_in_the_time_zone_of_the_browser(
    sent: str, hours: int, client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    day = (timezone.now() + 40 * DAY).date()
    date_end = sent.format(yesterday=day - DAY, day=day, tomorrow=day + DAY)
    post_new(client, expiry="date", date=f"{day:%Y-%m-%d}", date_end=date_end)
    end_in_utc = datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)
    assert ApiKey.objects.get().expires == end_in_utc + timedelta(hours=hours)


@pytest.mark.parametrize("date", ["", "2020-01-01", "9999-12-31", "tomorrow", "0000-00-00"])
def test_invalid_date_is_rejected(date: str, client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    response = client.post(KEYS, {"name": "ci", "scope": "write", "expiry": "date", "date": date})
    assert response.status_code == 400
    assert "aria-invalid" in render_html(response)
    assert not ApiKey.objects.exists()


def test_allowed_services_are_stored_and_listed(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    page = post_new(client, services="checkout, catalog-*\ncheckout")
    assert ApiKey.objects.get().services == ["checkout", "catalog-*"]
    assert "<code>catalog-*</code>" in page


@pytest.mark.parametrize(
    ("services", "default", "problem"),
    [
        ("Checkout!", "", "“Checkout!” is no service name"),
        (" ".join(f"s{number}" for number in range(51)), "", "51; the limit is 50"),
        ("checkout", "till", "not one of the allowed services"),
    ],
)
def test_invalid_services_are_rejected(
    services: str, default: str, problem: str, client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert problem in post_new(client, services=services, default_service=default)
    assert not ApiKey.objects.exists()


def test_form_is_a_dialog_for_htmx_and_a_page_without(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert render_html(client.get(f"{KEYS}/new")).startswith("<!DOCTYPE html>")
    dialog = client.get(f"{KEYS}/new", headers={"HX-Request": "true"})
    assert render_html(dialog).lstrip().startswith("<dialog")


def test_rotation_asks_first_and_then_shows_the_new_key_once(
    client: Client, alice: User, key: ApiKey
) -> None:
    client.force_login(alice)
    address = f"{KEYS}/{key.key_id}/rotate"
    assert "Rotate “production”?" in render_html(client.get(address))
    assert ApiKey.objects.count() == 1
    response = client.post(address)
    assert "no-store" in response.headers["Cache-Control"]
    new = ApiKey.objects.get(replaces=key)
    assert keys.parse(new_secret(render_html(response))).key_id == new.key_id
    entry = AuditEntry.objects.get(action="key.rotate")
    assert (entry.actor, entry.target) == (alice, "production")
    again = render_html(client.post(address, follow=True))
    assert "was rotated already" in again
    assert ApiKey.objects.count() == 2


def test_old_key_is_shown_below_the_new_one_until_it_ends(
    client: Client, alice: User, key: ApiKey
) -> None:
    client.force_login(alice)
    key.last_used, key.last_used_from = timezone.now() - DAY, "192.0.2.7"
    key.save()
    new, _ = keys.rotate(key)
    page = render_html(client.get(KEYS))
    assert "1 key in use · 1 in rotation" in page
    note = page.partition('class="expand"')[2].partition("</tr>")[0]
    finish = 'Finish rotation <span class="sr">production</span>'
    for words in (key.prefix, "192.0.2.7", finish, f"{KEYS}/{key.key_id}/revoke"):
        assert words in note
    assert f"{KEYS}/{new.key_id}/rotate" in page
    keys.revoke(key)
    page = render_html(client.get(KEYS))
    assert 'class="expand"' not in page
    assert "in rotation" not in page


def test_services_and_expiry_can_be_changed(client: Client, alice: User, key: ApiKey) -> None:
    client.force_login(alice)
    address = f"{KEYS}/{key.key_id}/change"
    assert "Change “production”" in render_html(client.get(address))
    client.post(address, {"services": "checkout", "expiry": "30"})
    key.refresh_from_db()
    assert key.services == ["checkout"]
    expires = key.expires
    assert expires is not None
    page = render_html(client.post(address, {"services": "", "expiry": "keep"}, follow=True))
    assert "Key “production” changed" in page
    key.refresh_from_db()
    assert (key.services, key.expires) == ([], expires)
    assert client.post(address, {"services": "A!", "expiry": "keep"}).status_code == 400


@pytest.mark.parametrize("action", ["rotate", "change", "revoke", "file"])
@pytest.mark.parametrize("state", ["revoked", "expired"])
def test_actions_on_a_key_that_is_not_in_use_are_404(
    action: str, state: str, client: Client, alice: User, key: ApiKey
) -> None:
    ended = timezone.now()
    ApiKey.objects.update(**{"revoked" if state == "revoked" else "expires": ended})
    client.force_login(alice)
    for ask in (client.get, client.post):
        assert ask(f"{KEYS}/{key.key_id}/{action}").status_code == 404


def test_notice_names_keys_that_expire_soon(
    client: Client, alice: User, project: Project, settings: Settings
) -> None:
    settings.KEY_EXPIRY_NOTICE_DAYS = (14, 3)
    now = timezone.now()
    for name, days in (("soon", 13.5), ("later", 15), ("gone", -1)):
        keys.create(project, name, expires=now + days * DAY)
    rotated, _ = keys.create(project, "rotated", expires=now + DAY)
    ApiKey.objects.filter(pk=rotated.pk).update(created=now - 90 * DAY)
    keys.rotate(rotated)
    client.force_login(alice)
    page = render_html(client.get(KEYS))
    assert re.findall(r"“(\w+)” expires", page) == ["soon"]
    assert "“soon” expires in 14 days." in page
    assert "Rotate it to keep its agents connected." in page


def test_keys_are_sorted_by_expiry_with_ended_ones_last(
    client: Client, alice: User, project: Project
) -> None:
    now = timezone.now()
    for name, days in (("never", None), ("late", 90), ("expired", -3), ("soon", 3)):
        keys.create(project, name, expires=None if days is None else now + days * DAY)
    client.force_login(alice)
    table = render_html(client.get(KEYS)).partition("<tbody")[2]
    names = re.findall(r'<b class="strong">(\w+)</b>\s*<span class="sub mono">', table)
    assert names == ["soon", "late", "never", "expired"]


def test_last_use_has_the_address_of_the_client(client: Client, alice: User, key: ApiKey) -> None:
    ApiKey.objects.update(last_used=timezone.now(), last_used_from="2001:db8::7")
    client.force_login(alice)
    assert "2001:db8::7" in render_html(client.get(KEYS))


def test_few_ended_keys_are_listed(client: Client, alice: User, project: Project) -> None:
    for number in range(12):
        keys.revoke(keys.create(project, f"old {number}")[0])
    client.force_login(alice)
    assert "2 older keys that are no longer in use are not listed." in render_html(client.get(KEYS))
