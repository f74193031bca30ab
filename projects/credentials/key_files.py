"""Key files: an RSA key for an API key, in the form of a service account's file.

Cloud Profiler's agents take such a file. They sign tokens with its private key, which the server
never stores: it checks the tokens by the public key (signed_tokens.py).
"""

import secrets
from enum import StrEnum

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.db import transaction

from projects import account_limits, audit
from projects.models import ApiKey, KeyFile, User

TOKEN_PATH = "/token"  # noqa: S105  a path
_RSA_BITS = 2048
# Universe domain of key files, not Google's: with a foreign one, Node.js agents sign their tokens
# themselves instead of asking Google for them. Python agents reject a file with a universe domain
# that they were not configured for.
UNIVERSE_DOMAIN = "flamewatch.internal"


class KeyFileKind(StrEnum):
    """Agents that a key file is for."""

    STANDARD = "standard"  # Go, Java, Python
    NODE = "node"


def create(
    key: ApiKey,
    kind: KeyFileKind,
    *,
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> dict[str, str]:
    """Create a key file and return its JSON object, which cannot be recovered later.

    Raise account_limits.LimitReached if the API key has as many key files as it may have.
    Generating the RSA key takes about 0.1 s of CPU time.
    """
    with transaction.atomic():
        account_limits.require_key_file(key)
    # Outside of the transactions: SQLite would keep all other writers waiting.
    private_key = rsa.generate_private_key(public_exponent=65537, key_size=_RSA_BITS)
    public_key = _encode_public_key(private_key)
    with transaction.atomic():
        account_limits.require_key_file(key)
        row = KeyFile.objects.create(
            key=key, file_id=secrets.token_hex(20), public_key=public_key, created_by=actor
        )
        audit.record(
            key.project,
            "key_file.create",
            actor=actor,
            origin=origin,
            target=key.name,
            key=key.prefix,
            file=row.file_id,
        )
    return _content(key, row, kind, private_key)


def client_email(project_id: str, key_id: str) -> str:
    """Return the name of the account in a key file, which is the issuer of its tokens.

    It does not depend on FLAMEWATCH_URL, so that tokens stay valid when the server moves.
    """
    return f"{key_id}@{project_id}.{UNIVERSE_DOMAIN}"


def _content(
    key: ApiKey, row: KeyFile, kind: KeyFileKind, private_key: rsa.RSAPrivateKey
) -> dict[str, str]:
    url = settings.FLAMEWATCH_URL
    content = {
        "type": "service_account",
        "project_id": key.project.project_id,
        "private_key_id": row.file_id,
        "private_key": _private_pem(private_key),
        "client_email": client_email(key.project.project_id, key.key_id),
        "client_id": str(key.pk),
        "auth_uri": f"{url}{TOKEN_PATH}",
        "token_uri": f"{url}{TOKEN_PATH}",
    }
    if kind is KeyFileKind.NODE:
        content["universe_domain"] = UNIVERSE_DOMAIN
    return content


def _private_pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _encode_public_key(key: rsa.RSAPrivateKey) -> str:
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )
