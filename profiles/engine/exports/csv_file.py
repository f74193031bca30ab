"""Sheet: rows for spreadsheets, as CSV (RFC 4180)."""

import csv
import io
from collections.abc import Iterable, Sequence

# What a spreadsheet would run as a formula, wherever the name of a function came from.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def encode(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """One line of heads and one for each row; texts that look like formulas get a quote before."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_harmless(head) for head in heads])
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object) -> object:
    """Numbers stay: a negative one is no formula."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell
