"""Device authorization grant (RFC 8628): a program shows a code, and a person confirms it.

The program polls with a secret that only it has, and gets a personal access token, with the scopes
that the person chose. User codes need not resist guesses of strangers: confirming somebody else's
code only gives that program a token of one's own account.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from projects import account_limits
from projects.audit import Origin
from projects.credentials import access_tokens
from projects.credentials.keys import hash_secret
from projects.models import DeviceSignIn, TokenScope, User

LIFETIME = timedelta(minutes=10)
POLL_SECONDS = 3
# Together at most, of all clients: more are a script's, and each is a row.
MAX_OPEN = 1000
# Without vowels, so that no word appears, and without letters that look alike (RFC 8628, 6.1).
_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
_LETTERS = 8


class TooManySignIns(Exception):
    """More open sign-ins than MAX_OPEN."""


class SignInPending(Exception):
    """Nobody has decided yet."""


class SignInDenied(Exception):
    """The person has denied it, or may have no token; the text says why."""


class SignInExpired(Exception):
    """Unknown device code, one that expired, or one whose token was taken."""


def begin(device: str, address: str) -> tuple[DeviceSignIn, str]:
    """Create a sign-in; return its row and the device code. Raise TooManySignIns."""
    now = timezone.now()
    if DeviceSignIn.objects.filter(expires__gt=now).count() >= MAX_OPEN:
        raise TooManySignIns
    device_code = secrets.token_urlsafe(32)
    row = DeviceSignIn.objects.create(
        user_code="".join(secrets.choice(_ALPHABET) for _ in range(_LETTERS)),
        device_code_hash=hash_secret(device_code),
        device=device[:60],
        address=address or None,
        expires=now + LIFETIME,
    )
    return row, device_code


def format_code(user_code: str) -> str:
    """Return a user code as it is shown: two groups of four letters."""
    return f"{user_code[:4]}-{user_code[4:]}"


def find_open(typed: str) -> DeviceSignIn | None:
    """Return the sign-in of a user code that nobody has decided on yet, however it was typed."""
    code = "".join(letter for letter in typed.upper() if letter in _ALPHABET)
    return DeviceSignIn.objects.filter(
        user_code=code, user=None, expires__gt=timezone.now()
    ).first()


def approve(
    row: DeviceSignIn, user: User, name: str, scopes: Sequence[TokenScope], days: int
) -> bool:
    """Let the program have a token of the user; return False if the sign-in was decided already.

    Raise account_limits.LimitReached if the account has all the tokens that it may.
    """
    with transaction.atomic():
        account_limits.require_token(user)
        return _decide(row, user=user, approved=True, name=name, scopes=list(scopes), days=days)


def deny(row: DeviceSignIn, user: User) -> bool:
    """Reject the program's sign-in; return False if it was decided already."""
    return _decide(row, user=user, approved=False)


def take_token(device_code: str, origin: Origin) -> str:
    """Create the token of an approved sign-in, once; return its text.

    Raise SignInPending, SignInDenied or SignInExpired.
    """
    with transaction.atomic():
        open_rows = DeviceSignIn.objects.filter(expires__gt=timezone.now()).select_related("user")
        row = open_rows.filter(device_code_hash=hash_secret(device_code)).first()
        if row is None:
            raise SignInExpired
        if row.user is None:
            raise SignInPending
        # Of two concurrent polls, one deletes the row.
        deleted, _ = DeviceSignIn.objects.filter(pk=row.pk).delete()
        if not deleted:
            raise SignInExpired
        if row.approved and row.user.is_active:
            scopes = [TokenScope(scope) for scope in row.scopes]
            try:
                return access_tokens.create(row.user, row.name, scopes, row.days, origin=origin)[1]
            except account_limits.LimitReached as reached:
                refusal = str(reached)
        else:
            refusal = "The sign-in was denied."
    # After the transaction, which has deleted the row.
    raise SignInDenied(refusal)


def _decide(row: DeviceSignIn, **decision: object) -> bool:
    open_row = DeviceSignIn.objects.filter(pk=row.pk, user=None, expires__gt=timezone.now())
    return bool(open_row.update(**decision))
