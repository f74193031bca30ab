"""Audit entries of failed attempts to sign in, bounded so that a flood does not fill the table.

Limits of ACCOUNT_RATE_LIMITS: of each typed address, and of all accounts that exist and of all
that do not. The address is stored only if it is an account's: people type passwords into it.
"""

from collections.abc import Mapping

from allauth.core import ratelimit
from django.http import HttpRequest

from projects import audit
from projects.audit import Origin
from projects.models import ActorKind, User

ACTION = "account.sign_in_failed"
UNKNOWN = "no such account"


def record(request: HttpRequest, credentials: Mapping[str, object], reason: str) -> None:
    """Add an entry of a failed attempt, to the log of each of the account's projects."""
    email = str(credentials.get("email", "")).lower()
    if not ratelimit.consume(request, action="failures_of_address", key=email):
        return
    account = User.objects.filter(email=email).first() if "\0" not in email else None
    kind = "failures_of_accounts" if account else "failures_of_others"
    if not ratelimit.consume(request, action=kind, key=kind):
        return
    origin = Origin.from_request(request, ActorKind.VISITOR)
    if account:
        audit.record_account(account, ACTION, actor=account, origin=origin, reason=reason)
    else:
        audit.record(None, ACTION, origin=origin, reason=UNKNOWN)
