"""Signatures of messages, as the Standard Webhooks specification has them."""

import base64
import hashlib
import hmac

from django.conf import settings

from projects.models import Webhook

PREFIX = "whsec_"


def get_secret(webhook: Webhook) -> str:
    """Return the secret that the receiver verifies signatures with."""
    return PREFIX + base64.b64encode(_derive_key(webhook)).decode()


def sign(webhook: Webhook, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header webhook-signature."""
    content = b".".join([message_id.encode(), str(timestamp).encode(), body])
    digest = hmac.digest(_derive_key(webhook), content, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def _derive_key(webhook: Webhook) -> bytes:
    context = f"flamewatch webhook {webhook.nonce}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), context, hashlib.sha256)
