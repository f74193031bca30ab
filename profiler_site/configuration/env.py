"""Typed readers of environment variables.

An invalid value stops the server's start with an error that names the variable.
"""

import os
import warnings
from collections.abc import Callable
from typing import TypeVar

import dj_database_url

DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")
# Former names, which are still read if the new name is not set.
FORMER_NAMES = {
    "FLAMEWATCH_BLOCK_CACHE_BYTES": "FLAMEWATCH_KEPT_BLOCK_BYTES",
    "FLAMEWATCH_MAX_PARKED_PER_DEPLOYMENT": "FLAMEWATCH_WAITING_PER_DEPLOYMENT",
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "FLAMEWATCH_HOLD_SECONDS",
}

T = TypeVar("T", int, float)


class BadSetting(Exception):
    """Invalid value of an environment variable."""


def text(name: str, default: str) -> str:
    return os.environ.get(_name_in_use(name), "") or default


def _name_in_use(name: str) -> str:
    """Return the name under which a variable is set: its former one with a deprecation warning."""
    former = FORMER_NAMES.get(name, "")
    if os.environ.get(name, "") or not os.environ.get(former, ""):
        return name
    # FutureWarning: Python shows it to the operator; a DeprecationWarning would be hidden.
    warnings.warn(f"{former} is deprecated; use {name}.", FutureWarning, stacklevel=2)
    return former


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        name = _name_in_use(name)
        raise BadSetting(f"{name} is {value!r}; allowed values: {', '.join(allowed)}.")
    return value


def flag(name: str, default: bool) -> bool:
    return choice(name, "yes" if default else "no", ("yes", "no")) == "yes"


def integer(name: str, default: int, lowest: int = 0) -> int:
    return _number(name, default, lowest, int, "a whole number")


def seconds(name: str, default: float, lowest: float = 0.0) -> float:
    return _number(name, default, lowest, float, "a number of seconds")


def database(name: str, url: str) -> dj_database_url.DBConfig:
    """Return Django's database settings for `url`, the value of the variable `name`.

    Raise BadSetting if its scheme is unknown or it cannot be parsed.
    """
    scheme = url.partition(":")[0]
    if scheme not in DATABASE_SCHEMES:
        raise BadSetting(f"{name} starts with {scheme!r}; allowed: {', '.join(DATABASE_SCHEMES)}.")
    try:
        return dj_database_url.parse(url)
    except ValueError as error:
        raise BadSetting(f"{name} cannot be read: {error}.") from None


def _number(name: str, default: T, lowest: T, read: Callable[[str], T], what: str) -> T:
    raw = text(name, str(default))
    try:
        value = read(raw)
    except ValueError:
        raise BadSetting(f"{_name_in_use(name)} is {raw!r}; it must be {what}.") from None
    if not lowest <= value < float("inf"):
        raise BadSetting(f"{_name_in_use(name)} is {raw!r}; it must be {what}, {lowest} or more.")
    return value
