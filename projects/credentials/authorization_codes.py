"""Authorization code grant (RFC 6749, 4.1, with PKCE) for assistants: a person allows a program.

The access token is a personal access token with the scope read. Programs register themselves
(RFC 7591). Their client ID *is* the registration, signed by this server, so that nothing is stored
for programs that nobody allows. A program has no secret: the verifier of PKCE shows that the
program which takes the token is the one that asked.
"""

import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import SplitResult, urlsplit

from django.core import signing
from django.db import transaction
from django.utils import timezone

from projects import account_limits
from projects.audit import Origin
from projects.credentials import access_tokens
from projects.credentials.keys import hash_secret
from projects.models import AuthorizationCode, TokenScope, User

RESOURCE_PATH = "/mcp"  # that the tokens are for
RESOURCE_METADATA_PATH = f"/.well-known/oauth-protected-resource{RESOURCE_PATH}"  # RFC 9728
LIFETIME = timedelta(minutes=1)
SCOPE = TokenScope.READ
MAX_URIS = 10
MAX_URI_LENGTH = 500
MAX_NAME_LENGTH = 60
MAX_CLIENT_ID_LENGTH = 8000
# Custom schemes of programs on the person's machine. Others are not redirected to: javascript, data
# and their like would run in the person's browser.
PROGRAM_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf", "zed"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_SALT = "projects.credentials.authorization_codes"


class RegistrationRejected(Exception):
    """Registration with a redirect URI that is not supported; the text says why."""


class UnknownProgram(Exception):
    """Client ID that this server has not signed, or redirect URI that is not the program's."""


class CodeRejected(Exception):
    """Unknown or expired code, one of another program, or a wrong verifier."""


@dataclass(frozen=True, slots=True)
class RegisteredProgram:
    """Registered program; its name is that program's choice."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]


def register(name: str, redirect_uris: Sequence[str]) -> RegisteredProgram:
    """Return the program with its client ID. Raise RegistrationRejected."""
    if not 0 < len(redirect_uris) <= MAX_URIS:
        raise RegistrationRejected(f"A program has 1 to {MAX_URIS} redirect URIs.")
    for uri in redirect_uris:
        _require_supported(uri)
    # Without characters that a page or a database rejects, or that reorder the page's text.
    name = "".join(filter(str.isprintable, name)).strip()[:MAX_NAME_LENGTH] or "?"
    client_id = signing.dumps([name, *redirect_uris], salt=_SALT, compress=True)
    if len(client_id) > MAX_CLIENT_ID_LENGTH:
        raise RegistrationRejected("The redirect URIs are too long together.")
    return RegisteredProgram(client_id, name, tuple(redirect_uris))


def find_program(client_id: str, redirect_uri: str) -> RegisteredProgram:
    """Return the program of a client ID and of its redirect URI. Raise UnknownProgram."""
    try:
        if len(client_id) > MAX_CLIENT_ID_LENGTH or len(redirect_uri) > MAX_URI_LENGTH:
            raise UnknownProgram
        name, *uris = signing.loads(client_id, salt=_SALT)
    except signing.BadSignature:
        raise UnknownProgram from None
    if not any(_is_same(redirect_uri, each) for each in uris):
        raise UnknownProgram
    return RegisteredProgram(client_id, name, tuple(uris))


def is_local(redirect_uri: str) -> bool:
    """Return True if a browser gives the code to a program on the person's own machine."""
    parts = _split(redirect_uri)
    return parts is not None and (parts.scheme in PROGRAM_SCHEMES or _is_loopback(parts))


def is_challenge(text: str) -> bool:
    """Return True for a code challenge of the method S256."""
    return _CHALLENGE.fullmatch(text) is not None


def approve(
    user: User, program: RegisteredProgram, redirect_uri: str, challenge: str, days: int
) -> str:
    """Let the program have a token of the user; return the code for it.

    Raise account_limits.LimitReached if the account has all the tokens that it may.
    """
    code = secrets.token_urlsafe(32)
    with transaction.atomic():
        account_limits.require_token(user)
        AuthorizationCode.objects.update_or_create(
            user=user,
            defaults={
                "code_hash": hash_secret(code),
                "client_hash": hash_secret(program.client_id),
                "redirect_uri": redirect_uri,
                "challenge": challenge,
                "expires": timezone.now() + LIFETIME,
                "name": program.name,
                "days": days,
            },
        )
    return code


def take_token(
    code: str, verifier: str, client_id: str, redirect_uri: str, origin: Origin
) -> tuple[str, datetime]:
    """Create the token of a code, once; return its text and its expiry. Raise CodeRejected.

    A code is lost by the first attempt, also by one that is rejected.
    """
    with transaction.atomic():
        rows = AuthorizationCode.objects.filter(expires__gt=timezone.now()).select_related("user")
        row = rows.filter(code_hash=hash_secret(code)).first()
        # Of two concurrent attempts, one deletes the row.
        if row is None or not AuthorizationCode.objects.filter(pk=row.pk).delete()[0]:
            raise CodeRejected("The code is unknown, was used, or has expired.")
        rejection = _find_mismatch(row, verifier, client_id, redirect_uri)
        if rejection is None:
            try:
                token, text = access_tokens.create(
                    row.user, row.name, [SCOPE], row.days, origin=origin
                )
            except account_limits.LimitReached as reached:
                rejection = str(reached)
            else:
                return text, token.expires
    # After the transaction, which has deleted the row.
    raise CodeRejected(rejection)


def _find_mismatch(
    row: AuthorizationCode, verifier: str, client_id: str, redirect_uri: str
) -> str | None:
    digest = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    if row.client_hash != hash_secret(client_id):
        return "The code is another program's."
    if row.redirect_uri != redirect_uri:
        return "redirect_uri is not that of the authorization request."
    if row.challenge != digest:
        return "code_verifier does not match the code_challenge."
    if not row.user.is_active:
        return "The account is not active."
    return None


def _require_supported(uri: str) -> None:
    """Raise RegistrationRejected for a URI to which a browser must not be sent."""
    parts = _split(uri)
    if parts is None or "#" in uri or "@" in parts.netloc or len(uri) > MAX_URI_LENGTH:
        raise RegistrationRejected(
            f"{uri[:100]!r} is no redirect URI: it needs a scheme and a host, no user and no"
            f" fragment, and at most {MAX_URI_LENGTH} printable ASCII characters."
        )
    if parts.scheme in ("https", *PROGRAM_SCHEMES) or _is_loopback(parts):
        return
    raise RegistrationRejected(
        f"{uri[:100]!r} is not supported: redirect URIs have https, http on this machine"
        f" (127.0.0.1, localhost), or one of the schemes {', '.join(sorted(PROGRAM_SCHEMES))}."
    )


def _split(uri: str) -> SplitResult | None:
    if not re.fullmatch(r"[!-~]+", uri) or re.search(r'[\\<>"]', uri):
        return None
    try:
        parts = urlsplit(uri)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address
        return None
    return parts if has_host else None


def _is_loopback(parts: SplitResult) -> bool:
    return parts.scheme == "http" and parts.hostname in _LOOPBACK


def _is_same(uri: str, registered: str) -> bool:
    """Compare exactly, except for port and empty path on the person's machine (RFC 8252, 7.3)."""
    if uri == registered:
        return True
    left, right = _split(uri), _split(registered)
    if left is None or right is None or not (_is_loopback(left) and _is_loopback(right)):
        return False
    is_same_host = left.hostname == right.hostname and "@" not in left.netloc
    return is_same_host and _drop_host(left) == _drop_host(right)


def _drop_host(parts: SplitResult) -> SplitResult:
    return parts._replace(netloc="", path=parts.path or "/")
