"""Signatures of messages, as the Standard Webhooks specification has them."""

import base64
import hashlib
import hmac
from datetime import timedelta

from django.conf import settings

from projects.models import Webhook

PREFIX = "whsec_"
# Messages are signed with the previous secret, too, for so long after a new one was made.
OVERLAP = timedelta(days=1)


def get_secret(webhook: Webhook) -> str:
    """Return the secret that the receiver verifies signatures with."""
    return PREFIX + base64.b64encode(_derive_key(webhook.nonce)).decode()


def sign(webhook: Webhook, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header webhook-signature: one or two signatures.

    `timestamp` is that of the message, in seconds of Unix time.
    """
    content = b".".join([message_id.encode(), str(timestamp).encode(), body])
    nonces = [webhook.nonce]
    rotated = webhook.rotated
    if rotated is not None and timestamp < (rotated + OVERLAP).timestamp():
        nonces.append(webhook.previous_nonce)
    digests = [hmac.digest(_derive_key(each), content, hashlib.sha256) for each in nonces]
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def _derive_key(nonce: str) -> bytes:
    context = f"flamewatch webhook {nonce}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), context, hashlib.sha256)
