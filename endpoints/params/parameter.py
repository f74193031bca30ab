"""Declarations of query parameters: name, meaning, parser, default and bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Generic, TypeVar

from endpoints.params import values

MAX_VALUES = 50  # values of one repeated parameter

T = TypeVar("T")
D = TypeVar("D")
E = TypeVar("E", bound=StrEnum)


def _keep(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Parameter(Generic[T, D]):
    """Parameter that may be given once.

    `parse` raises ValueError or OverflowError, with a text of what is allowed, for a value out of
    bounds. The lenient policy calls `fit` first, which replaces a text by a similar one that
    `parse` accepts: it cuts a long name and adds a missing time zone.
    """

    name: str
    meaning: str
    parse: Callable[[str], T]
    default: D
    fit: Callable[[str], str] = _keep


@dataclass(frozen=True, slots=True)
class Repeated(Generic[T]):
    """Parameter that may be given several times; without any value it is empty."""

    name: str
    meaning: str
    parse: Callable[[str], T]
    fit: Callable[[str], str] = _keep
    most: int = MAX_VALUES  # the strict policy rejects more values
    most_used: int = MAX_VALUES  # the lenient policy uses that many different values


@dataclass(frozen=True, slots=True)
class Family:
    """Repeated parameters whose names are a common prefix and a name that the client chooses."""

    prefix: str
    meaning: str
    parse: Callable[[str], str]
    fit: Callable[[str], str]
    unnamed: str  # error text for the prefix alone
    most_used: int  # the lenient policy uses that many names

    def member(self, name: str) -> Repeated[str]:
        return Repeated(f"{self.prefix}{name}", self.meaning, self.parse, self.fit)


def text(name: str, meaning: str, most: int = values.MAX_TEXT) -> Parameter[str, str]:
    """Declare a text of at most `most` characters."""
    short, cut = partial(values.short, most=most), partial(values.cut, most=most)
    return Parameter(name, meaning, short, "", cut)


def choice(
    name: str, meaning: str, allowed: Sequence[str], default: str = ""
) -> Parameter[str, str]:
    """Declare a choice of texts; without a `default`, it is the first."""
    choice = partial(values.choice, allowed=tuple(allowed))
    return Parameter(name, meaning, choice, default or allowed[0])


def member(name: str, meaning: str, default: E) -> Parameter[E, E]:
    """Declare a choice of the members of the default's class."""
    kind = type(default)
    names = tuple(each.value for each in kind)
    return Parameter(name, meaning, lambda text: kind(values.choice(text, names)), default)


def sort(name: str, meaning: str, columns: Sequence[str]) -> Parameter[str, str]:
    """Declare a sort column; a leading `-` reverses its order. The first column is the default."""
    return choice(name, meaning, (*columns, *(f"-{column}" for column in columns)))


def flag(name: str, meaning: str, word: str = "1") -> Parameter[bool, bool]:
    """Declare a parameter that is true if its value is `word`, and false for any other value."""
    return Parameter(name, meaning, lambda text: text == word, False)
