"""Downloads: file names in the format of Cloud Profiler, and tables as CSV."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.http import HttpResponse

from profiles.query import ProfileSelection, encode_csv

ENDINGS = {
    "pprof": "pb.gz",
    "folded": "folded.txt",
    "speedscope": "speedscope.json",
    "csv": "csv",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST = 60  # characters per component of the name


def download_name(selection: ProfileSelection, form: str) -> str:
    """Return `profiler_[SERVICE]_[TYPE]_[FROM]_[TO]_[ZONE]_[VERSION]` with the format's extension.

    Contains only letters, digits, dots and dashes; a zone or version without a filter is `all`.
    """
    parts = (
        selection.service,
        selection.type.value,
        _format_time(selection.start),
        _format_time(selection.end),
        _filter(selection.zones),
        _filter(selection.versions),
    )
    safe = (_UNSAFE.sub("-", part)[:_LONGEST] for part in parts)
    return f"profiler_{'_'.join(safe)}.{ENDINGS[form]}"


def _filter(values: Sequence[str]) -> str:
    return "-".join(value or "unset" for value in values) or "all"


def _format_time(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def csv_file(
    name: str, header: Sequence[str], rows: Iterable[Sequence[str | int | float]]
) -> HttpResponse:
    """Return a CSV download in UTF-8 with a header row, see encode_csv.

    `name` is the file name, without path characters.
    """
    response = HttpResponse(encode_csv(header, rows), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response
