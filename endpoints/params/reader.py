"""Reader of query parameters with two policies: strict for APIs, lenient for pages.

Both read the same declarations (endpoints.params.parameter), and parse a valid value alike. The
strict policy raises BadParameter for an invalid, repeated or unknown parameter, the lenient one
uses the default and collects an Issue. Databases reject NUL in text: the strict policy does, too,
and pages answer 400 before they read parameters (frontend/http/nul_middleware.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

from django.core.exceptions import BadRequest
from django.http import QueryDict

from endpoints import nul
from endpoints.errors import BadField
from endpoints.nul import require_no_nul
from endpoints.params.parameter import Family, Parameter, Repeated

MAX_QUERY = 16 * 2**10  # bytes of the whole query string
MAX_PARAMETERS = 200
MAX_VALUE = 8 * 2**10  # characters of a name or value: function names are long

T = TypeVar("T")
D = TypeVar("D")
Pair = tuple[str, str]
Declared = Parameter[Any, Any] | Repeated[Any]


class BadParameter(BadRequest):
    """Invalid parameter; the text names the parameter and what is allowed."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name[:100]}: {reason}")
        self.name = name


class Reader(ABC):
    """Parameters of one request."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def read(self, parameter: Parameter[T, D]) -> T | D:
        """Return the parsed value, or the default if it is missing, empty or was rejected."""
        text = self.text(parameter)
        if not text:
            return parameter.default
        try:
            return parameter.parse(self._fit(parameter, text))
        except (ValueError, OverflowError) as error:
            self.reject(parameter, text, error)
            return parameter.default

    def several(self, parameter: Repeated[T]) -> tuple[T, ...]:
        """Return all parsed values in their order, without empty and rejected ones."""
        found = []
        for text in self._texts(parameter):
            try:
                found.append(parameter.parse(text))
            except (ValueError, OverflowError) as error:
                self.reject(parameter, text, error)
        return tuple(found)

    def has(self, *parameters: Declared) -> bool:
        """Return True if any of these parameters has a value that is not empty."""
        return any(any(self._values.get(each.name, ())) for each in parameters)

    def pairs(self) -> Iterator[Pair]:
        return ((name, value) for name, values in self._values.items() for value in values)

    @abstractmethod
    def text(self, parameter: Declared) -> str:
        """Return the value as it was sent, "" if it is missing."""

    @abstractmethod
    def family(self, family: Family) -> dict[str, tuple[str, ...]]:
        """Return the values of all members, by their names without the prefix."""

    @abstractmethod
    def expect(self, *parameters: Declared) -> None:
        """Declare parameters that may be given, although not all of them will be read."""

    @abstractmethod
    def reject(self, parameter: Declared, text: str, error: Exception) -> None:
        """Handle an invalid value; the text of `error` says what is allowed."""

    @abstractmethod
    def conflict(self, parameter: Declared, reason: str) -> None:
        """Handle a parameter that contradicts others, which are ignored if this returns."""

    @abstractmethod
    def _fit(self, parameter: Declared, text: str) -> str:
        """Return the text to parse, which the lenient policy first fits to the parameter."""

    @abstractmethod
    def _texts(self, parameter: Repeated[Any]) -> Iterable[str]:
        """Return the values to parse, without empty ones."""


class StrictReader(Reader):
    """Reader of an API: every read marks a name as recognized, `done` rejects the others.

    `called` is the prefix of parameter names in error messages, for example of one side of a
    comparison.
    """

    def __init__(self, pairs: Iterable[Pair], called: str = "") -> None:
        self._called = called
        self._recognized: dict[str, None] = {}  # names in the order of reads, for error messages
        self._prefixes: list[str] = []
        super().__init__(map(self._validate, pairs))

    def read_required(self, parameter: Parameter[T, Any]) -> T:
        if not self.text(parameter):
            raise self._bad(parameter.name, "is missing")
        value: T = self.read(parameter)
        return value

    def text(self, parameter: Declared) -> str:
        self.expect(parameter)
        texts = self._values.get(parameter.name, [])
        if len(texts) > 1:
            raise self._bad(parameter.name, f"is given {len(texts)} times; it may be given once")
        return texts[0] if texts else ""

    def family(self, family: Family) -> dict[str, tuple[str, ...]]:
        self._prefixes.append(family.prefix)
        if family.prefix in self._values:
            raise self._bad(family.prefix, family.unnamed)
        names = [name.removeprefix(family.prefix) for name in self._starting(family.prefix)]
        return {name: self.several(family.member(name)) for name in names}

    def expect(self, *parameters: Declared) -> None:
        self._recognized |= dict.fromkeys(each.name for each in parameters)

    def reject(self, parameter: Declared, text: str, error: Exception) -> NoReturn:
        raise self._bad(parameter.name, str(error)) from error

    def conflict(self, parameter: Declared, reason: str) -> NoReturn:
        raise self._bad(parameter.name, reason)

    def side(self, prefix: str) -> "StrictReader":
        """Return the parameters whose names begin with `prefix`, under names without it."""
        self._prefixes.append(prefix)
        own = ((n.removeprefix(prefix), v) for n, v in self.pairs() if n.startswith(prefix))
        return StrictReader(own, prefix)

    def done(self) -> None:
        """Raise BadParameter if there is a parameter that nothing has read."""
        prefixes = tuple(self._prefixes)
        for name in self._values:
            if name not in self._recognized and not name.startswith(prefixes):
                recognized = [each for each in self._recognized if not each.startswith(prefixes)]
                recognized += [f"{prefix}…" for prefix in prefixes]
                allowed = ", ".join(f"{self._called}{each}" for each in recognized)
                raise self._bad(name, f"is unknown here; there are {allowed}")

    def _texts(self, parameter: Repeated[Any]) -> Iterable[str]:
        self.expect(parameter)
        texts, most = self._values.get(parameter.name, []), parameter.most
        if len(texts) > most:
            reason = f"is given {len(texts)} times; it may be {most} times"
            raise self._bad(parameter.name, reason)
        return [text for text in texts if text]

    def _fit(self, parameter: Declared, text: str) -> str:
        return text

    def _starting(self, prefix: str) -> list[str]:
        return [name for name in self._values if name.startswith(prefix)]

    def _bad(self, name: str, reason: str) -> BadParameter:
        return BadParameter(f"{self._called}{name}", reason)

    def _validate(self, pair: Pair) -> Pair:
        name, value = pair
        longest = max(len(name), len(value))
        if longest > MAX_VALUE:
            raise self._bad(name, f"may have {MAX_VALUE:,} characters; here are {longest:,}")
        try:
            require_no_nul([pair])
        except BadField as error:
            raise BadParameter(error.field, nul.REASON) from None
        return pair


@dataclass(frozen=True, slots=True)
class Issue:
    """Invalid value, which was replaced by the parameter's default or left out."""

    parameter: Declared
    text: str
    error: Exception


class LenientReader(Reader):
    """Reader of a page: the last of several values counts, unknown parameters are ignored."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        super().__init__(pairs)
        self.issues: list[Issue] = []

    @classmethod
    def from_query(cls, query: QueryDict) -> "LenientReader":
        return cls((name, value) for name, values in query.lists() for value in values)

    @property
    def names(self) -> list[str]:
        return [*self._values]

    def all(self, name: str) -> list[str]:
        """Return all values as they were sent, also empty ones."""
        return self._values.get(name, [])

    def text(self, parameter: Declared) -> str:
        return self._values.get(parameter.name, [""])[-1]

    def family(self, family: Family) -> dict[str, tuple[str, ...]]:
        names = sorted(name for name in self._values if name.startswith(family.prefix))
        own = [name.removeprefix(family.prefix) for name in names[: family.most_used]]
        found = {family.fit(name): self.several(family.member(name)) for name in own if name}
        return {name: values for name, values in found.items() if values}

    def expect(self, *parameters: Declared) -> None:
        """Do nothing: no parameter is rejected as unknown."""

    def reject(self, parameter: Declared, text: str, error: Exception) -> None:
        self.issues.append(Issue(parameter, text, error))

    def conflict(self, parameter: Declared, reason: str) -> None:
        """Do nothing: the other parameters are ignored."""

    def without(self, *names: str) -> "LenientReader":
        """Return the other parameters; their issues are added to those of this reader."""
        return self.replace_values(
            {n: values for n, values in self._values.items() if n not in names}
        )

    def replace_values(self, values: Mapping[str, list[str]]) -> "LenientReader":
        """Return a reader of other values whose issues are added to those of this reader."""
        other = copy(self)
        other._values = dict(values)
        return other

    def _fit(self, parameter: Declared, text: str) -> str:
        return parameter.fit(text)

    def _texts(self, parameter: Repeated[Any]) -> Iterable[str]:
        texts = self._values.get(parameter.name, [])
        distinct = dict.fromkeys(parameter.fit(text) for text in texts if text)
        return [*distinct][: parameter.most_used]


def parse(query: str) -> StrictReader:
    """Parse a percent-encoded query string, the part of a URL after `?`, for the strict policy."""
    if len(query) > MAX_QUERY:
        raise BadParameter("the address", f"its parameters may have {MAX_QUERY:,} bytes")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise BadParameter("the address", "its parameters have to be UTF-8") from None
    if len(pairs) > MAX_PARAMETERS:
        name = pairs[MAX_PARAMETERS][0]
        raise BadParameter(name, f"an address may have {MAX_PARAMETERS} parameters")
    return StrictReader(pairs)
