"""Table export as CSV (RFC 4180) for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Sequence

# Spreadsheets run cells that start like this as formulas, and function names are user input.
# Some read full-width forms of the signs like the signs themselves.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def encode(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Encode a header line and the rows; prefix texts that look like formulas with a quote."""
    return encode_rows([heads, *rows])


def encode_rows(rows: Iterable[Sequence[object]]) -> str:
    """Encode rows alone, for a file that is made part by part."""
    out = io.StringIO()
    csv.writer(out).writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object) -> object:
    """Quote texts that look like formulas; numbers stay, since a negative number is no formula."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell
