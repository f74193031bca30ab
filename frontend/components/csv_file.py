"""Tables as files for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

# What a spreadsheet would take for a formula; text that begins so is shown as text.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_file(
    name: str, header: Sequence[str], rows: Iterable[Sequence[str | int | float]]
) -> HttpResponse:
    """A download of UTF-8 with a header; `name` is without characters of a path."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    response = HttpResponse(out.getvalue(), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _safe(cell: str | int | float) -> str | int | float:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULAS) else cell
