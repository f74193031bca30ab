"""Rotation of API keys, and the services that they may send."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from projects import account_limits
from projects.credentials import keys
from projects.models import ApiKey, AuditEntry, Project, User

pytestmark = pytest.mark.django_db


def test_new_key_has_the_options_of_the_old_one_and_a_secret_of_its_own(
    project: Project, alice: User
) -> None:
    expires = timezone.now() + timedelta(days=30)
    old, old_text = keys.create(
        project, "ci", default_service="shop", services=["shop", "cart"], expires=expires
    )
    new, text = keys.rotate(old, actor=alice)
    assert keys.parse(text).key_id == new.key_id
    assert text != old_text
    assert (new.name, new.may_write, new.may_read) == ("ci", True, False)
    assert (new.default_service, new.services) == ("shop", ["shop", "cart"])
    assert new.created_by == alice
    assert new.expires is not None
    assert abs(new.expires - expires) < timedelta(minutes=1)


def test_old_key_expires_after_the_overlap(project: Project, settings: Settings) -> None:
    settings.KEY_OVERLAP_DAYS = 3
    old, _text = keys.create(project, "ci")
    new, _text = keys.rotate(old)
    old.refresh_from_db()
    assert old.replaced_by == new
    assert old.expires is not None
    assert abs(old.expires - timezone.now() - timedelta(days=3)) < timedelta(minutes=1)
    assert new.expires is None


def test_overlap_never_lengthens_the_life_of_a_key(project: Project) -> None:
    expires = timezone.now() + timedelta(hours=1)
    old, _text = keys.create(project, "ci", expires=expires)
    keys.rotate(old)
    old.refresh_from_db()
    assert old.expires == expires


def test_key_is_rotated_once(project: Project) -> None:
    old, _text = keys.create(project, "ci")
    keys.rotate(old)
    with pytest.raises(keys.InvalidRotation):
        keys.rotate(old)
    assert ApiKey.objects.filter(project=project).count() == 2


def test_revoked_and_expired_keys_are_not_rotated(project: Project) -> None:
    revoked, _text = keys.create(project, "revoked")
    keys.revoke(revoked)
    expired, _text = keys.create(project, "old", expires=timezone.now() - timedelta(seconds=1))
    for row in (revoked, expired):
        with pytest.raises(keys.InvalidRotation):
            keys.rotate(row)


def test_rotation_respects_the_limit_of_keys(project: Project, settings: Settings) -> None:
    settings.MAX_KEYS_PER_PROJECT = 1
    row, _text = keys.create(project, "ci")
    with pytest.raises(account_limits.LimitReached):
        keys.rotate(row)
    row.refresh_from_db()
    assert (row.expires, row.replaced_by) == (None, None)
    ApiKey.objects.update(expires=timezone.now())
    keys.create(project, "after the expiry")


def test_rotation_and_changes_are_in_the_audit_log(project: Project, alice: User) -> None:
    row, _text = keys.create(project, "ci")
    new, text = keys.rotate(row, actor=alice)
    keys.change_services(new, ("shop",), actor=alice)
    rotated = AuditEntry.objects.get(action="key.rotate")
    assert (rotated.actor, rotated.detail["new_key"]) == (alice, new.prefix)
    changed = AuditEntry.objects.get(action="key.change")
    assert (changed.detail["before"], changed.detail["services"]) == ([], ["shop"])
    assert keys.parse(text).secret not in str(list(AuditEntry.objects.values()))


def test_unchanged_services_are_no_entry(project: Project) -> None:
    row, _text = keys.create(project, "ci", services=["shop"])
    keys.change_services(row, ("shop",))
    assert not AuditEntry.objects.filter(action="key.change").exists()


def test_keys_in_use_are_listed_by_expiry(project: Project) -> None:
    now = timezone.now()
    keys.create(project, "never")
    keys.create(project, "late", expires=now + timedelta(days=90))
    keys.create(project, "early", expires=now + timedelta(days=2))
    revoked, _text = keys.create(project, "revoked", expires=now)
    keys.revoke(revoked)
    assert [key.name for key in keys.list_keys(project)] == ["early", "late", "never", "revoked"]
