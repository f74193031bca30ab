"""Query string parser with limits on size and number, which rejects unknown parameters."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar
from urllib.parse import parse_qsl

MAX_QUERY = 16 * 2**10  # bytes of the whole query string
MAX_PARAMETERS = 200
MAX_VALUES = 50  # values of one repeated parameter
MAX_VALUE = 8 * 2**10  # characters of a name or value: function names are long

T = TypeVar("T")
D = TypeVar("D")
Pair = tuple[str, str]


class BadParameter(Exception):
    """Invalid parameter; the text names the parameter and what is allowed."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name[:100]}: {reason}")
        self.name = name


class Parameters:
    """Parameters of a request; every read marks a name as recognized, `done` rejects the others.

    `called` is the prefix of parameter names in error messages, for example of one side of a
    comparison.
    """

    def __init__(self, pairs: Iterable[Pair], called: str = "") -> None:
        self._values: dict[str, list[str]] = {}
        self._called = called
        self._recognized: dict[str, None] = {}  # names in the order of reads, for error messages
        self._prefixes: list[str] = []
        for count, (name, value) in enumerate(pairs, 1):
            if count > MAX_PARAMETERS:
                raise self.bad(name, f"an address may have {MAX_PARAMETERS} parameters")
            self._check(name, value)
            self._values.setdefault(name, []).append(value)

    def one(self, name: str) -> str:
        """Return the value, or "" if it is missing; raise BadParameter if there are several."""
        self._recognized[name] = None
        values = self._values.get(name, [])
        if len(values) > 1:
            raise self.bad(name, f"is given {len(values)} times; it may be given once")
        return values[0] if values else ""

    def required(self, name: str) -> str:
        text = self.one(name)
        if not text:
            raise self.bad(name, "is missing")
        return text

    def several(self, name: str) -> tuple[str, ...]:
        """Return all values in their order, without empty ones."""
        self._recognized[name] = None
        return self._bounded(name)

    def starting(self, prefix: str) -> dict[str, tuple[str, ...]]:
        """Return the values of all parameters with this prefix, by their names without it."""
        self._prefixes.append(prefix)
        names = [name for name in self._values if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._bounded(name) for name in names}

    def read(self, name: str, parse: Callable[[str], T], default: D) -> T | D:
        """Return the parsed value, or `default` if it is missing or empty.

        Raise BadParameter with the text of the ValueError or OverflowError that `parse` raises.
        """
        text = self.one(name)
        if not text:
            return default
        try:
            return parse(text)
        except (ValueError, OverflowError) as error:
            raise self.bad(name, str(error)) from error

    def has(self, *names: str) -> bool:
        """Return True if any of these parameters has a value that is not empty."""
        return any(any(self._values.get(name, ())) for name in names)

    def pairs(self) -> Iterator[Pair]:
        return ((name, value) for name, values in self._values.items() for value in values)

    def side(self, prefix: str) -> "Parameters":
        """Return the parameters whose names begin with `prefix`, under names without it."""
        self._prefixes.append(prefix)
        own = ((n.removeprefix(prefix), v) for n, v in self.pairs() if n.startswith(prefix))
        return Parameters(own, prefix)

    def done(self) -> None:
        """Raise BadParameter if there is a parameter that nothing has read."""
        for name in self._values:
            if name not in self._recognized and not name.startswith(tuple(self._prefixes)):
                recognized = [*self._recognized, *(f"{prefix}…" for prefix in self._prefixes)]
                allowed = ", ".join(f"{self._called}{each}" for each in recognized)
                raise self.bad(name, f"is unknown here; there are {allowed}")

    def bad(self, name: str, reason: str) -> BadParameter:
        return BadParameter(f"{self._called}{name}", reason)

    def _bounded(self, name: str) -> tuple[str, ...]:
        values = self._values.get(name, [])
        if len(values) > MAX_VALUES:
            raise self.bad(name, f"is given {len(values)} times; it may be {MAX_VALUES} times")
        return tuple(value for value in values if value)

    def _check(self, name: str, value: str) -> None:
        longest = max(len(name), len(value))
        if longest > MAX_VALUE:
            raise self.bad(name, f"may have {MAX_VALUE:,} characters; here are {longest:,}")
        if "\0" in name or "\0" in value:  # databases do not accept NUL in text
            raise self.bad(name.replace("\0", "�"), "may not have the character NUL")


def parse(query: str) -> Parameters:
    """Parse a percent-encoded query string, the part of a URL after `?`."""
    if len(query) > MAX_QUERY:
        raise BadParameter("the address", f"its parameters may have {MAX_QUERY:,} bytes")
    try:
        return Parameters(parse_qsl(query, keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        raise BadParameter("the address", "its parameters have to be UTF-8") from None
