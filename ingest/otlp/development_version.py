"""Version of OTLP profiles that a sender states, as proposed in opentelemetry-proto#857."""

from endpoints.errors import BadRequest

VERSION_HEADER = "otlp-profiles-development-version"  # of HTTP, and metadata of gRPC
_VERSION = "1"


def require_version(value: str | None) -> None:
    """Raise BadRequest for a version that this server does not read.

    `value` has all values of the header with commas between them; senders without it (None) have
    version 1.
    """
    if value not in {None, _VERSION}:
        raise BadRequest(
            f"{VERSION_HEADER} is {str(value)[:40]!r}; this server reads version {_VERSION}, stated"
            " once or not at all."
        )
