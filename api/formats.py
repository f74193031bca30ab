"""Formats of query results: their names in `format=`, and their media types."""

from collections.abc import Sequence
from typing import NamedTuple

from profiles.query import ExportFormat


class ResultFormat(NamedTuple):
    name: str
    content_type: str
    accepted: tuple[str, ...]  # media types in the Accept header
    packed: bool = False  # the format is compressed already


JSON = ResultFormat("json", "application/json", ("application/json",))
PPROF = ResultFormat(
    ExportFormat.PPROF.value,
    "application/octet-stream",
    ("application/octet-stream", "application/x-protobuf", "application/vnd.google.protobuf"),
    packed=True,
)
FOLDED = ResultFormat(ExportFormat.FOLDED.value, "text/plain; charset=utf-8", ("text/plain",))
SPEEDSCOPE = ResultFormat(
    ExportFormat.SPEEDSCOPE.value, "application/json", ("application/vnd.speedscope+json",)
)
CSV = ResultFormat(ExportFormat.CSV.value, "text/csv; charset=utf-8", ("text/csv",))


def find_format(name: str, forms: Sequence[ResultFormat]) -> ResultFormat:
    return next(form for form in forms if form.name == name)
