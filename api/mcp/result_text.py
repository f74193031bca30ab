"""Texts of results: JSON with rows as lists, short enough for the context of an assistant."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from profiles.query import Coverage, Metric, ProfileSelection, dumps

# 4,000 tokens: names of functions and numbers have about 2.5 bytes in a token.
MAX_BYTES = 10_000
MAX_TEXT = 1200  # bytes of a text in JSON
_MOST_MISSING = 3  # reasons why profiles are missing

Row = Sequence[Any]


def shorten(text: str) -> str:
    """Cut a text that has more than MAX_TEXT bytes in JSON; a character has six at most."""
    return text if len(orjson.dumps(text)) <= MAX_TEXT else f"{text[: MAX_TEXT // 6]}…"


def describe_selection(
    selection: ProfileSelection, coverage: Coverage, metric: Metric
) -> dict[str, Any]:
    """Return the fields of a result about the profiles that it sums."""
    return {
        "service": selection.service,
        "type": selection.type.value,
        "start": selection.start,
        "end": selection.end,
        "metric": shorten(metric.name),
        "unit": shorten(metric.unit),
        **describe_coverage(coverage),
    }


def describe_coverage(coverage: Coverage) -> dict[str, Any]:
    fields: dict[str, Any] = {"profiles": coverage.profiles, "total": coverage.total}
    if coverage.missing:
        reasons = [shorten(each.explanation) for each in coverage.missing[:_MOST_MISSING]]
        fields |= {"left_out_profiles": coverage.left_out, "left_out_because": reasons}
    return fields


def encode_table(
    head: dict[str, Any], columns: Sequence[str], rows: Sequence[Row], offset: int, limit: int
) -> str:
    """Encode the fields of `head`, and as many rows as there is room for, at least one."""
    room = MAX_BYTES - len(dumps(head))
    return encode_document({**head, **build_table(columns, rows, offset, limit, room)})


def build_table(
    columns: Sequence[str], rows: Sequence[Row], offset: int, limit: int, room: int
) -> dict[str, Any]:
    """Return the rows from `offset` that have at most `room` bytes, and where the others begin."""
    listed: list[list[Any]] = []
    size = len(dumps({"columns": columns})) + 60  # with the number of rows and the next offset
    for row in rows[offset : offset + limit]:
        values = [shorten(value) if isinstance(value, str) else value for value in row]
        size += len(dumps({"": values})) - 4
        if size > room and listed:
            break
        listed.append(values)
    end = offset + len(listed)
    return {
        "columns": columns,
        "rows": listed,
        "all_rows": len(rows),
        "next_offset": end if end < len(rows) and listed else None,
    }


def encode_document(document: dict[str, Any]) -> str:
    return dumps(document).decode()


def percent(part: float, whole: float) -> float | None:
    """Return a percentage with two decimals; None of nothing."""
    return round(100 * part / whole, 2) if whole else None


def shorten_all(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts, and the number of the others as one more."""
    found = [shorten(text)[:100] for text in texts]
    others = len(found) - most
    return found if others <= 0 else [*found[:most], f"and {others} more"]
