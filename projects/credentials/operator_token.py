"""Short-lived tokens of the server's operator, signed with SECRET_KEY."""

from django.core import signing

_SALT = "flamewatch.operator"
_GOOD_FOR_SECONDS = 60
PREFIX = "fwop_"


def make(project_id: str) -> str:
    """Return a token for one project, valid for 60 s."""
    return PREFIX + signing.TimestampSigner(salt=_SALT).sign(project_id)


def read_project(token: str) -> str | None:
    """Return the project id that a token is for; None if it is forged or expired."""
    try:
        signer = signing.TimestampSigner(salt=_SALT)
        return signer.unsign(token.removeprefix(PREFIX), max_age=_GOOD_FOR_SECONDS)
    except signing.BadSignature:
        return None
