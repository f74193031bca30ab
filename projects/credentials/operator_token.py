"""What proves that a command comes from this server's operator: signed with its secret key."""

from django.core import signing

_SALT = "flamewatch.operator"
_GOOD_FOR_SECONDS = 60
PREFIX = "fwop_"


def make(project_id: str) -> str:
    """A token for one project, good for a minute."""
    return PREFIX + signing.TimestampSigner(salt=_SALT).sign(project_id)


def project_of(token: str) -> str | None:
    """The project id that a token is for; None where it is forged or too old."""
    try:
        signer = signing.TimestampSigner(salt=_SALT)
        return signer.unsign(token.removeprefix(PREFIX), max_age=_GOOD_FOR_SECONDS)
    except signing.BadSignature:
        return None
