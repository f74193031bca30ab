"""Access of the operator's programs to addresses of the process, by a bearer token."""

import hmac

from asgiref.typing import HTTPScope
from django.conf import settings

TOKEN_REQUIRED = "Send the FLAMEWATCH_METRICS_TOKEN as Authorization: Bearer TOKEN.\n"  # noqa: S105


def is_operator(scope: HTTPScope) -> bool:
    """Return True if the request has the FLAMEWATCH_METRICS_TOKEN, which has to be set."""
    if not settings.METRICS_TOKEN:
        return False
    given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    return hmac.compare_digest(given, b"Bearer " + settings.METRICS_TOKEN.encode())
