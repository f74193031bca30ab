"""Output for people: tables, colours, values with units."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime

_SECONDS = {"nanoseconds": 1e9, "microseconds": 1e6, "milliseconds": 1e3, "seconds": 1.0}


def print_json(document: object) -> int:
    """Print a document for programs; return the exit code of success."""
    print(json.dumps(document))
    return 0


def print_done(options: Namespace, text: str) -> int:
    """Say that a change is done; return the exit code of success."""
    if options.json:
        return print_json({"done": True})
    print(make_printable(text))
    return 0


def has_colours() -> bool:
    """Return True for a terminal, unless NO_COLOR is set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not is_plain


def paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if has_colours() else text


def make_printable(text: str) -> str:
    """Replace control characters: names come from strangers, and terminals obey them."""
    return "".join(char if char.isprintable() else "�" for char in text)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> None:
    """Print columns; those whose letter in `right` is "r" are right-aligned."""
    lines = [tuple(map(make_printable, row)) for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        columns = [
            text.rjust(width) if right[index : index + 1] == "r" else text.ljust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        text = "  ".join(columns).rstrip()
        print(paint(text, "1") if number == 0 else text)


def format_value(value: float, unit: str) -> str:
    """Return a value with a unit that people read: 1.5 s, 3.2 MiB, 12,000 count."""
    if unit in _SECONDS:
        seconds = value / _SECONDS[unit]
        for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if abs(seconds) >= scale:
                return f"{seconds / scale:,.4g} {name}" if scale < 1 else f"{seconds:,.2f} {name}"
        return f"{seconds * 1e9:.4g} ns"
    if unit == "bytes":
        for power, name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
            if abs(value) >= 1024**power:
                return f"{value / 1024**power:,.2f} {name}"
        return f"{value:,.0f} B"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def format_share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def format_time(text: str | None) -> str:
    """Return a time of the API, in UTC to the minute."""
    if not text:
        return "never"
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")
