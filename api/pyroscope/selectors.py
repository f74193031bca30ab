"""Label selectors as in Prometheus: `{service_name="shop", version=~"1.*"}`."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import re2

from profiles.query import InvalidQuery

MAX_SELECTOR = 16 * 2**10  # characters
MAX_MATCHERS = 50
MAX_EXPRESSION = 4096  # characters: Grafana lists many values as alternatives
_MAX_PROGRAM = 2**22  # bytes of a compiled expression and its cache

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.]*")
_OPERATOR = re.compile(r"=~|!~|!=|=")
_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`([^`]*)`', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL
)
_ESCAPED = {
    **{"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"},
    **{each: each for each in "\\\"'"},
}


@dataclass(frozen=True)
class Matcher:
    """Condition on the value of a label; an absent label has the value ""."""

    name: str
    operator: str  # =, !=, =~ or !~
    value: str

    def matches(self, value: str) -> bool:
        return self._is_match(value) is (self.operator[0] == "=")

    @cached_property
    def _is_match(self) -> Callable[[str], bool]:
        """Return the predicate without the negation; expressions match the whole value."""
        if self.operator in {"=", "!="}:
            return lambda value: value == self.value
        if len(self.value) > MAX_EXPRESSION:
            raise InvalidQuery(
                f"The expression for {self.name[:100]} has {len(self.value):,} characters; the "
                f"limit is {MAX_EXPRESSION:,}."
            )
        options = re2.Options()
        options.log_errors, options.max_mem = False, _MAX_PROGRAM
        try:
            expression = re2.compile(f"(?s:{self.value})", options)
        except (re2.error, UnicodeError):
            raise InvalidQuery(
                f"The expression for {self.name[:100]} is not valid in RE2's syntax."
            ) from None
        return lambda value: expression.fullmatch(value) is not None


@dataclass(frozen=True)
class Selector:
    """Matchers that all have to match, and the name before the braces ("" without one)."""

    name: str
    matchers: tuple[Matcher, ...]

    def find_matchers(self, *names: str) -> tuple[Matcher, ...]:
        """Return the matchers of the labels with one of these names."""
        return tuple(each for each in self.matchers if each.name in names)


def parse_selector(text: str) -> Selector:
    """Parse a selector with an optional name before it; "" selects everything.

    Raise InvalidQuery if it is malformed or too long.
    """
    if len(text) > MAX_SELECTOR:
        raise InvalidQuery(f"A label selector may have {MAX_SELECTOR:,} characters.")
    if "\0" in text:
        raise InvalidQuery("A label selector may not have the character NUL.")
    name, brace, _ = text.partition("{")
    if not brace:
        return Selector(text.strip(), ())
    return Selector(name.strip(), tuple(_parse_matchers(text, len(name) + 1)))


def join_selectors(texts: Iterable[str]) -> Selector:
    """Parse several selectors whose matchers all have to match."""
    selectors = [parse_selector(text) for text in texts]
    matchers = [each for selector in selectors for each in selector.matchers]
    if len(matchers) > MAX_MATCHERS:
        raise InvalidQuery(f"A request may have {MAX_MATCHERS} conditions on labels.")
    names = [selector.name for selector in selectors if selector.name]
    return Selector(names[0] if names else "", tuple(matchers))


def allows(matchers: Sequence[Matcher], value: str) -> bool:
    return all(each.matches(value) for each in matchers)


def _parse_matchers(text: str, position: int) -> list[Matcher]:
    """Parse the matchers from the position after the opening brace to the end of the text."""
    found: list[Matcher] = []
    position = _skip_space(text, position)
    while not text.startswith("}", position):
        if len(found) == MAX_MATCHERS:
            raise InvalidQuery(f"A label selector may have {MAX_MATCHERS} conditions.")
        matcher, position = _parse_matcher(text, position)
        found.append(matcher)
        position = _skip_space(text, position)
        if text.startswith(",", position):
            position = _skip_space(text, position + 1)
        elif not text.startswith("}", position):
            raise _build_error(text, position, "a comma or }")
    if text[position + 1 :].strip():
        raise _build_error(text, position + 1, "the end")
    return found


def _parse_matcher(text: str, position: int) -> tuple[Matcher, int]:
    quoted, plain = _QUOTED.match(text, position), _NAME.match(text, position)
    named = quoted or plain
    if named is None:
        raise _build_error(text, position, "the name of a label")
    name = _text(quoted) if quoted else named[0]
    position = _skip_space(text, named.end())
    operator = _OPERATOR.match(text, position)
    if operator is None:
        raise _build_error(text, position, "=, !=, =~ or !~")
    position = _skip_space(text, operator.end())
    value = _QUOTED.match(text, position)
    if value is None:
        raise _build_error(text, position, "a value in quotes")
    return Matcher(name, operator[0], _text(value)), value.end()


def _text(quoted: re.Match[str]) -> str:
    double, single, raw = quoted.groups()
    if raw is not None:
        return str(raw)
    return _ESCAPE.sub(_unescape, double if double is not None else single)


def _unescape(found: re.Match[str]) -> str:
    *hexadecimal, octal, character = found.groups()
    code = next((int(digits, 16) for digits in hexadecimal if digits), None)
    if octal:
        code = int(octal, 8)
    if code is None:
        if character not in _ESCAPED:
            raise InvalidQuery(f"A label selector has an unknown escape: {found[0][:20]}")
        return _ESCAPED[character]
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise InvalidQuery(f"A label selector has an invalid character: {found[0][:20]}")
    return chr(code)


def _skip_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _build_error(text: str, position: int, expected: str) -> InvalidQuery:
    near = f"before {text[position : position + 20]!r}" if position < len(text) else "at its end"
    return InvalidQuery(f"A label selector needs {expected} {near}.")
