"""Expiry of API keys, the address of their last use, and rotation."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from common import write_behind
from projects.account_limits import LimitReached
from projects.credentials import authentication, key_files, keys
from projects.credentials.authentication import KeyExpired, KeyRejected, authenticate
from projects.credentials.key_files import KeyFileKind
from projects.credentials.keys import KeyNotRotated
from projects.models import ApiKey, AuditEntry, Project, User
from tests.clock import Clock
from tests.key_files import signed
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


def run(text: str, address: str = "") -> authentication.Access:
    return asyncio.run(authenticate(text, address))


def test_cached_key_expires_without_a_query(project: Project, clock: Clock) -> None:
    _, text = keys.create(project, "ci", expires=timezone.now() + DAY)
    run(text)
    clock.advance(days=1, seconds=-1)
    with count_queries() as queries:
        run(text)
        clock.advance(seconds=1)
        with pytest.raises(KeyExpired):
            run(text)
    assert queries == []


def test_rejection_says_when_the_key_expired_and_what_to_do(project: Project) -> None:
    row, text = keys.create(project, "ci", expires=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    with pytest.raises(KeyExpired) as raised:
        run(text)
    for word in (row.prefix, "expired on 2026-01-02 03:04 UTC", "Create a key"):
        assert word in str(raised.value)


def test_wrong_secret_of_an_expired_key_is_not_told_that_it_expired(project: Project) -> None:
    row, _ = keys.create(project, "ci", expires=timezone.now() - DAY)
    with pytest.raises(KeyRejected) as raised:
        run(keys.make(row.key_id, "x" * 32))
    assert not isinstance(raised.value, KeyExpired)


def test_tokens_of_an_expired_key_are_rejected(project: Project, alice: User) -> None:
    row, _ = keys.create(project, "ci")
    token = signed(key_files.create(row, KeyFileKind.STANDARD, actor=alice))
    assert run(token).key == row.pk
    keys.change(row, services=[], expires=timezone.now() - DAY)
    with pytest.raises(KeyExpired):
        run(token)


def test_access_of_an_expired_key_is_not_found(project: Project) -> None:
    row, _ = keys.create(project, "ci", expires=timezone.now() + DAY)
    assert asyncio.run(authentication.find_access(row.key_id)) is not None
    keys.change(row, services=[], expires=timezone.now() - DAY)
    assert asyncio.run(authentication.find_access(row.key_id)) is None


def test_last_use_has_the_address_of_the_latest_client(project: Project) -> None:
    row, text = keys.create(project, "ci")
    run(text, "192.0.2.1")
    run(text, "192.0.2.2")
    with count_queries() as queries:
        run(text, "192.0.2.3")
    assert queries == []
    write_behind.write_now()
    row.refresh_from_db()
    assert row.last_used is not None
    assert row.last_used_from == "192.0.2.3"


def test_expired_keys_do_not_count_against_the_limit(project: Project, settings: Settings) -> None:
    settings.MAX_KEYS_PER_PROJECT = 1
    keys.create(project, "old", expires=timezone.now() - DAY)
    keys.create(project, "new")
    with pytest.raises(LimitReached):
        keys.create(project, "one too many")


def test_rotated_key_keeps_name_and_permissions(project: Project, alice: User) -> None:
    old, _ = keys.create(
        project, "ci", write=False, read=True, services=["shop"], default_service="shop"
    )
    new, text = keys.rotate(old, actor=alice)
    assert (new.name, new.may_write, new.may_read) == ("ci", False, True)
    assert (new.services, new.default_service) == (["shop"], "shop")
    assert (new.expires, new.created_by) == (None, alice)
    assert run(text).key == new.pk


def test_both_keys_are_valid_during_the_overlap(
    project: Project, clock: Clock, settings: Settings
) -> None:
    settings.KEY_OVERLAP_DAYS = 3
    old, old_text = keys.create(project, "ci")
    _, new_text = keys.rotate(old)
    clock.advance(days=3, seconds=-1)
    run(old_text)
    clock.advance(seconds=1)
    with pytest.raises(KeyExpired):
        run(old_text)
    run(new_text)


def test_rotation_does_not_prolong_a_key_and_keeps_its_lifetime(project: Project) -> None:
    expires = timezone.now() + 2 * DAY
    old, _ = keys.create(project, "ci", expires=expires)
    ApiKey.objects.filter(pk=old.pk).update(created=expires - 90 * DAY)
    new, _ = keys.rotate(old)
    old.refresh_from_db()
    assert old.expires == expires
    assert old.replaced_by == new
    assert new.expires is not None
    assert abs(new.expires - timezone.now() - 90 * DAY) < timedelta(minutes=1)


def test_key_is_rotated_once(project: Project) -> None:
    old, _ = keys.create(project, "ci")
    keys.rotate(old)
    with pytest.raises(KeyNotRotated, match="already"):
        keys.rotate(old)
    assert project.api_keys.count() == 2


@pytest.mark.parametrize("state", ["revoked", "expired"])
def test_key_that_is_not_in_use_is_not_rotated(state: str, project: Project) -> None:
    row, _ = keys.create(project, "ci", expires=timezone.now() - DAY)
    if state == "revoked":
        keys.revoke(row)
    with pytest.raises(KeyNotRotated, match="Create a key instead"):
        keys.rotate(row)


def test_every_action_writes_an_audit_entry(project: Project, alice: User) -> None:
    row, _ = keys.create(project, "ci", services=["shop"], actor=alice)
    keys.change(row, services=["till"], expires=None, actor=alice)
    keys.change(row, services=["till"], expires=None, actor=alice)  # changes nothing
    new, _ = keys.rotate(row, actor=alice)
    keys.revoke(row, actor=alice)
    entries = AuditEntry.objects.filter(project=project, action__startswith="key.").order_by("pk")
    assert [entry.action for entry in entries] == [
        *("key.create", "key.change", "key.rotate", "key.revoke")
    ]
    assert {(entry.actor_id, entry.target, entry.detail["key"]) for entry in entries} == {
        (alice.pk, "ci", row.prefix)
    }
    created, changed, rotated, _revoked = entries
    assert (created.detail["services"], created.detail["expires"]) == (["shop"], None)
    assert changed.detail["changed"] == {"services": ["till"]}
    assert rotated.detail["new_key"] == new.prefix


def test_keys_are_listed_by_expiry_with_revoked_ones_last(project: Project) -> None:
    now = timezone.now()
    for name, days in (("late", 90), ("soon", 3), ("revoked", 1), ("never", None)):
        expires = None if days is None else now + days * DAY
        row, _ = keys.create(project, name, expires=expires)
        if name == "revoked":
            keys.revoke(row)
    assert [row.name for row in keys.list_keys(project)] == ["soon", "late", "never", "revoked"]
