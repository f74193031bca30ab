"""Signatures of messages while a secret is rotated."""

import base64
import hashlib
import hmac

import pytest
from django.utils import timezone

from projects.audit import NO_CLIENT
from projects.models import Project, User, Webhook
from projects.webhooks.settings import rotate_secret
from projects.webhooks.signature import OVERLAP, get_secret, sign

pytestmark = pytest.mark.django_db
BODY = b'{"type": "test"}'


def verify(secret: str, header: str, timestamp: int) -> bool:
    """Verify as a library of Standard Webhooks does: one of the signatures has to match."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, b"msg_1.%d.%s" % (timestamp, BODY), hashlib.sha256)
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return signature in header.split(" ")


def test_both_secrets_verify_messages_for_a_day(project: Project, alice: User) -> None:
    webhook = Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    first, now = get_secret(webhook), int(timezone.now().timestamp())
    assert verify(first, sign(webhook, "msg_1", now, BODY), now)
    rotate_secret(webhook, actor=alice, origin=NO_CLIENT)
    second = get_secret(webhook)
    both = sign(webhook, "msg_1", now, BODY)
    assert verify(first, both, now)
    assert verify(second, both, now)
    later = now + int(OVERLAP.total_seconds()) + 2
    alone = sign(webhook, "msg_1", later, BODY)
    assert verify(second, alone, later)
    assert not verify(first, alone, later)


def test_second_rotation_ends_the_first_secret(project: Project, alice: User) -> None:
    webhook = Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    first, now = get_secret(webhook), int(timezone.now().timestamp())
    for _ in range(2):
        rotate_secret(webhook, actor=alice, origin=NO_CLIENT)
    assert not verify(first, sign(webhook, "msg_1", now, BODY), now)
