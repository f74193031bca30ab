"""Tokens signed with a key file, and the access tokens that the server returns for them.

Agents send either as a bearer token. Both end with the API key of the key file: they name it, and
its row is checked with each request.
"""

import re
from dataclasses import dataclass

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.core import signing

from common.cache import Cache, NoValue
from projects.credentials.key_files import client_email
from projects.models import KeyFile

ACCESS_TOKEN_PREFIX = "fwt_"  # noqa: S105  not a secret
ACCESS_TOKEN_SECONDS = 3600
# An agent's token has a header, five claims and a signature of 256 bytes: 800 characters.
MAX_CHARACTERS = 4096
# Lifetime of a signed token: Google's libraries use an hour.
MAX_LIFETIME_SECONDS = 3600
_CLOCK_SKEW_SECONDS = 60
_SALT = "flamewatch.access-token"
_SECONDS_CACHED = 15.0
_MOST_FILES = 10_000
_FILE_ID = re.compile(r"[0-9a-f]{40}")


class TokenRejected(Exception):
    """Token that is forged, expired or of an unknown key file."""


@dataclass(frozen=True, slots=True)
class _FileRow:
    """Columns of a key file that checking a token needs."""

    public_key: rsa.RSAPublicKey
    issuer: str
    key_id: str  # ApiKey.key_id


def is_token(text: str) -> bool:
    """Return True for an access token and for a signed token, valid or not."""
    return text.startswith(ACCESS_TOKEN_PREFIX) or is_signed(text)


def is_signed(text: str) -> bool:
    """Return True for a text in the form of a JSON Web Token, valid or not."""
    return text.startswith("ey") and text.count(".") == 2


async def find_key_id(token: str) -> str:
    """Return the public id of the API key that a token stands for (ApiKey.key_id).

    The caller checks that the key is in use. Raise TokenRejected for an invalid token, and as
    authentication.authenticate does if the database cannot be asked.
    """
    if token.startswith(ACCESS_TOKEN_PREFIX):
        return (await _find(_file_of_access_token(token))).key_id
    file_id = _file_of_signed_token(token)
    row = await _find(file_id)
    _verify(token, row)
    return row.key_id


def issue_access_token(signed_token: str) -> str:
    """Return an access token, valid for ACCESS_TOKEN_SECONDS, for a signed token already checked.

    Access tokens are signed with SECRET_KEY and not stored.
    """
    return ACCESS_TOKEN_PREFIX + _signer().sign(_file_of_signed_token(signed_token))


def _signer() -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt=_SALT)


def _file_of_access_token(token: str) -> str:
    try:
        text = token.removeprefix(ACCESS_TOKEN_PREFIX)
        return _signer().unsign(text, max_age=ACCESS_TOKEN_SECONDS)
    except signing.SignatureExpired:
        raise TokenRejected("This access token has expired.") from None
    except signing.BadSignature:
        raise _invalid() from None


def _file_of_signed_token(token: str) -> str:
    """Return the id of the key file that a token claims to be signed with."""
    if len(token) > MAX_CHARACTERS:
        raise TokenRejected(f"Signed tokens may have {MAX_CHARACTERS:,} characters.")
    try:
        file_id = jwt.get_unverified_header(token).get("kid")
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise _invalid() from None
    if not isinstance(file_id, str) or not _FILE_ID.fullmatch(file_id):
        raise _invalid()
    return file_id


def _verify(token: str, row: _FileRow) -> None:
    """Check the signature, the issuer and the times of a token.

    The audience is not checked: Google's agents state the URL of Google's token endpoint, that of
    this server, the address they connect to, or none. A key file is for this server only.
    """
    try:
        claims = jwt.decode(
            token,
            row.public_key,
            algorithms=["RS256"],
            issuer=row.issuer,
            leeway=_CLOCK_SKEW_SECONDS,
            options={"require": ["exp", "iat", "iss"], "verify_aud": False, "verify_sub": False},
        )
    except jwt.ExpiredSignatureError:
        raise TokenRejected("This signed token has expired: check the agent's clock.") from None
    except jwt.ImmatureSignatureError:
        raise TokenRejected(
            "This signed token is not valid yet: check the agent's clock."
        ) from None
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise _invalid() from None
    if claims["exp"] - claims["iat"] > MAX_LIFETIME_SECONDS + _CLOCK_SKEW_SECONDS:
        raise TokenRejected(
            f"Signed tokens may be valid for {MAX_LIFETIME_SECONDS} s, exp minus iat."
        )


def _invalid() -> TokenRejected:
    return TokenRejected(
        "This token is not valid: it is damaged, or the API key of its key file was revoked."
    )


async def _find(file_id: str) -> _FileRow:
    try:
        return await _files.get_or_load(file_id)
    except NoValue:
        raise _invalid() from None


def _load(file_id: str) -> _FileRow:
    files = KeyFile.objects.select_related("key__project")
    row = files.filter(file_id=file_id, key__revoked=None).first()
    if row is None:
        raise NoValue(file_id)
    public_key = load_pem_public_key(row.public_key.encode())
    if not isinstance(public_key, rsa.RSAPublicKey):
        raise TypeError(f"The key file {file_id} has no RSA key.")
    issuer = client_email(row.key.project.project_id, row.key.key_id)
    return _FileRow(public_key, issuer, row.key.key_id)


_files: Cache[str, _FileRow] = Cache(
    _load,
    size=_MOST_FILES,
    seconds=_SECONDS_CACHED,
    max_missing=_MOST_FILES,
    missing_seconds=_SECONDS_CACHED,
)
