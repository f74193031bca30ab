"""Mail server settings from FLAMEWATCH_SMTP_URL: `smtps://user:password@host:port`."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from profiler_site.configuration.env import BadSetting

# scheme: (default port, STARTTLS, implicit TLS)
_SCHEMES = {"smtp": (25, False, False), "smtp+tls": (587, True, False), "smtps": (465, False, True)}
_ENCODE = "special characters of user and password have to be percent-encoded"


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False


def parse(url: str) -> MailServer:
    """Parse the URL. Raise BadSetting, which never contains the URL, because of its password."""
    try:
        parts = urlsplit(url)
    except ValueError:  # whose text has a part of the URL
        raise _bad(_ENCODE) from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise _bad(f"it needs a host and one of the schemes {', '.join(_SCHEMES)}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _bad(f"it has to end after the port; {_ENCODE}")
    port, starttls, tls = _SCHEMES[parts.scheme]
    return MailServer(
        host=parts.hostname,
        port=_port(parts) or port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=starttls,
        tls=tls,
    )


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise _bad("its port must be a number up to 65535") from None


def _bad(reason: str) -> BadSetting:
    return BadSetting(
        f"FLAMEWATCH_SMTP_URL is invalid: {reason}; for example smtps://user:password@host:465."
    )
