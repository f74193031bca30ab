"""Tokens of invitations, the secret part of their links.

A token is an HMAC by SECRET_KEY of an invitation and of a random nonce of its row; the database has
only its hash. So a queued e-mail names a row and no secret, and a copy of the database opens no
project.
"""

import base64

from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac

from projects.models import Invitation

MAX_CHARACTERS = 100  # of a text that can be a token; a token has 43
_SALT = "flamewatch.invitation"


def make(row: Invitation) -> str:
    digest = salted_hmac(_SALT, f"{row.pk}:{row.nonce}", algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def get_url(row: Invitation) -> str:
    """Return the link with the current token; only for the e-mail, or for whoever issues it."""
    return f"{settings.FLAMEWATCH_URL}{reverse('invitation', args=[make(row)])}"
