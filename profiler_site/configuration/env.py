"""Typed readers of environment variables.

An invalid value stops the server's start with an error that names the variable.
"""

import os
import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

import dj_database_url

DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")
REDIS_SCHEMES = ("redis", "rediss")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_FLAGS = ("yes", "no", "1", "0", "true", "false")
_TRUE = frozenset({"yes", "1", "true"})
# Names of all variables that were read: those that the server knows.
read_names: set[str] = set()

T = TypeVar("T", int, float)
Network = IPv4Network | IPv6Network


class BadSetting(Exception):
    """Invalid value of an environment variable."""


def text(name: str, default: str) -> str:
    read_names.add(name)
    return os.environ.get(name, "") or default


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise BadSetting(f"{name} is {value!r}; allowed values: {', '.join(allowed)}.")
    return value


def flag(name: str, default: bool) -> bool:
    return choice(name, "yes" if default else "no", _FLAGS) in _TRUE


def log_level(name: str, default: str) -> str:
    """Return the name of a level of Python's logging; the variable may be in lower case."""
    value = text(name, default).upper()
    if value not in LOG_LEVELS:
        raise BadSetting(f"{name} is {value!r}; allowed values: {', '.join(LOG_LEVELS)}.")
    return value


def public_url(name: str, default: str) -> str:
    """Return the address of a site: http or https and a host, without a path."""
    value = text(name, default).rstrip("/")
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises ValueError
    except ValueError:
        parts = urlsplit("")
    is_site = parts.scheme in ("http", "https") and parts.hostname
    if not is_site or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        raise BadSetting(
            f"{name} has to be an address like https://flamewatch.example.org, with http:// or"
            " https:// and without a path."
        )
    return value


def integer(name: str, default: int, lowest: int = 0) -> int:
    return _number(name, default, lowest, int, "a whole number")


def seconds(name: str, default: float, lowest: float = 0.0) -> float:
    return _number(name, default, lowest, float, "a number of seconds")


def names(name: str, default: str) -> tuple[str, ...]:
    """Return the names of a list separated by commas."""
    return tuple(part.strip() for part in text(name, default).split(",") if part.strip())


def integers(name: str, default: tuple[int, ...], lowest: int = 0) -> tuple[int, ...]:
    """Return the whole numbers of a list separated by commas."""
    parts = names(name, ",".join(map(str, default)))
    if not all(part.isdecimal() and len(part) < 10 and int(part) >= lowest for part in parts):
        raise BadSetting(
            f"{name} is {', '.join(parts)!r}; it must be a list of whole numbers separated by"
            f" commas, each {lowest} or more."
        )
    return tuple(map(int, parts))


def networks(name: str) -> tuple[Network, ...]:
    """Return the addresses and networks of a list separated by commas."""
    return tuple(_network(name, part.strip()) for part in text(name, "").split(",") if part.strip())


def _network(name: str, part: str) -> Network:
    try:
        return ip_network(part, strict=False)
    except ValueError:
        raise BadSetting(
            f"{name} has {part!r}; it has to be a list of addresses and networks separated by"
            " commas, like 10.0.0.0/8, 2001:db8::1."
        ) from None


def database(name: str, url: str) -> dj_database_url.DBConfig:
    """Return Django's database settings for `url`, the value of the variable `name`.

    Raise BadSetting if its scheme is unknown or it cannot be parsed.
    """
    if not url.startswith("sqlite://"):
        _split_secret_url(name, url, DATABASE_SCHEMES)
    try:
        return dj_database_url.parse(url)
    except ValueError:
        raise _unreadable(name) from None


def redis(name: str) -> str:
    """Return the URL of a Redis server, "" if the variable is not set."""
    url = text(name, "")
    if url:
        parts = _split_secret_url(name, url, REDIS_SCHEMES)
        if not parts.hostname or not re.fullmatch(r"(/[0-9]{0,5})?", parts.path):
            raise _unreadable(name)
    return url


def _split_secret_url(name: str, url: str, schemes: tuple[str, ...]) -> SplitResult:
    """Split a URL that may have a password. Raise BadSetting, which never quotes any part of it.

    The errors of the standard library quote what they cannot read, which may be the password.
    """
    scheme, separator, _rest = url.partition("://")
    if scheme not in schemes or not separator:
        raise BadSetting(f"{name} has to begin with {', '.join(f'{each}://' for each in schemes)}.")
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError
    except ValueError:
        raise _unreadable(name) from None
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        raise _unreadable(name)  # the end of a password with a special character
    return parts


def _unreadable(name: str) -> BadSetting:
    return BadSetting(
        f"{name} cannot be read as scheme://user:password@host:port/name. Its port has to be a"
        " number up to 65535, and special characters of user and password have to be"
        " percent-encoded: / as %2F, @ as %40, : as %3A, # as %23, ? as %3F, [ as %5B, % as %25."
    )


def _number(name: str, default: T, lowest: T, read: Callable[[str], T], kind: str) -> T:
    raw = text(name, str(default))
    try:
        value = read(raw)
    except ValueError:
        raise BadSetting(f"{name} is {raw!r}; it must be {kind}.") from None
    if not lowest <= value < float("inf"):
        raise BadSetting(f"{name} is {raw!r}; it must be {kind}, {lowest} or more.")
    return value
