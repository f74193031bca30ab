"""API keys in the admin."""

import asyncio
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from projects.credentials import keys
from projects.credentials.authentication import KeyRejected, authenticate
from projects.models import ApiKey, AuditEntry, Project

pytestmark = pytest.mark.django_db(transaction=True)


def test_neither_the_secret_nor_its_hash_is_shown(admin: Client, project: Project) -> None:
    row, text = keys.create(project, "checkout")
    for url in (
        reverse("admin:projects_apikey_changelist"),
        reverse("admin:projects_apikey_change", args=[row.pk]),
    ):
        html = admin.get(url).content.decode()
        assert row.prefix in html
        assert row.secret_hash not in html
        assert keys.parse(text).secret not in html


def test_revocation_is_effective_at_once_and_audited(admin: Client, project: Project) -> None:
    row, text = keys.create(project, "checkout")
    asyncio.run(authenticate(text))
    form = {"action": "revoke", "_selected_action": [row.pk]}
    page = admin.post(reverse("admin:projects_apikey_changelist"), form, follow=True)
    assert "1 key was revoked." in page.content.decode()
    with pytest.raises(KeyRejected):
        asyncio.run(authenticate(text))
    entry = AuditEntry.objects.get(action="key.revoke")
    assert str(entry.actor) == "operator@example.org"
    assert entry.detail == {"key": row.prefix, "name": "checkout"}


def test_list_has_expiry_services_and_last_address(admin: Client, project: Project) -> None:
    row, _ = keys.create(
        project, "ci", services=["catalog-*"], expires=datetime(2031, 2, 3, tzinfo=UTC)
    )
    ApiKey.objects.filter(pk=row.pk).update(last_used_from="192.0.2.9")
    html = admin.get(reverse("admin:projects_apikey_changelist")).content.decode()
    for words in ("catalog-*", "2031", "192.0.2.9"):
        assert words in html
