"""Search for functions by name."""

from collections.abc import Callable

from profiles.query import BadFilterPattern, matcher


def build_name_matcher(text: str) -> tuple[Callable[[str], bool], str]:
    """Return a predicate for names, and the error of an invalid expression ("" if valid).

    The text is a part of a name, or `/a regular expression/`. An empty or invalid search matches
    every name.
    """
    try:
        return (matcher(text) if text else _match_any), ""
    except BadFilterPattern as error:
        return _match_any, error.reason


def _match_any(_name: str) -> bool:
    return True
