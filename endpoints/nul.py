"""The character NUL, which PostgreSQL cannot store in text, in parameters of requests."""

from collections.abc import Iterable, Mapping
from typing import Any

from endpoints.errors import BadField

REASON = "may not have the character NUL"
_LONGEST_NAME = 100  # characters in an error message


def require_no_nul(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise BadField for the first pair with NUL in its name or value."""
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise _bad(name)


def require_no_nul_in_json(message: Mapping[str, Any]) -> None:
    """Raise BadField for a name or text with NUL at any depth of parsed JSON.

    Paths are cut as they are made: those of many values below a long name would take much memory.
    """
    pending: list[tuple[str, Any]] = [("", message)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise _bad(path)
        elif isinstance(value, dict):
            for name, inner in value.items():
                inner_path = f"{path}.{name}"[:_LONGEST_NAME] if path else name[:_LONGEST_NAME]
                if "\0" in name:
                    raise _bad(inner_path)
                pending.append((inner_path, inner))
        elif isinstance(value, list):
            pending += [
                (f"{path}[{number}]"[:_LONGEST_NAME], inner) for number, inner in enumerate(value)
            ]


def _bad(name: str) -> BadField:
    return BadField(name.replace("\0", "�")[:_LONGEST_NAME], REASON)
