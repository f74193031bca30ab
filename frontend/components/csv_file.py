"""CSV responses for table exports."""

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

# Spreadsheets evaluate cells that start with these characters as formulas. Such cells get a leading
# apostrophe, so that they are shown as text.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_file(
    name: str, header: Sequence[str], rows: Iterable[Sequence[str | int | float]]
) -> HttpResponse:
    """Return a CSV download in UTF-8 with a header row.

    `name` is the file name, without path characters.
    """
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
