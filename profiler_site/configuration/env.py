"""Typed readers of environment variables.

An invalid value stops the server's start with an error that names the variable.
"""

import os
from collections.abc import Callable
from typing import TypeVar

import dj_database_url

DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")

T = TypeVar("T", int, float)


class BadSetting(Exception):
    """Invalid value of an environment variable."""


def text(name: str, default: str) -> str:
    return os.environ.get(name, "") or default


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise BadSetting(f"{name} is {value!r}; it may be {', '.join(allowed)}.")
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
        raise BadSetting(
            f"{name} begins with {scheme!r}; it may begin with {', '.join(DATABASE_SCHEMES)}."
        )
    try:
        return dj_database_url.parse(url)
    except ValueError as error:
        raise BadSetting(f"{name} cannot be read: {error}.") from None


def _number(name: str, default: T, lowest: T, read: Callable[[str], T], what: str) -> T:
    raw = text(name, str(default))
    try:
        value = read(raw)
    except ValueError:
        raise BadSetting(f"{name} is {raw!r}; it has to be {what}.") from None
    if not lowest <= value < float("inf"):
        raise BadSetting(f"{name} is {raw!r}; it has to be {what}, {lowest} or more.")
    return value
