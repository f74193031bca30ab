"""The forms of answers: their names in `format=`, and their media types."""

from collections.abc import Sequence
from typing import NamedTuple

from profiles.query import ExportFormat


class Form(NamedTuple):
    name: str
    content_type: str
    accepted: tuple[str, ...]  # in the header Accept
    packed: bool = False  # has a compression of its own


JSON = Form("json", "application/json", ("application/json",))
PPROF = Form(
    ExportFormat.PPROF.value,
    "application/octet-stream",
    ("application/octet-stream", "application/x-protobuf", "application/vnd.google.protobuf"),
    packed=True,
)
FOLDED = Form(ExportFormat.FOLDED.value, "text/plain; charset=utf-8", ("text/plain",))
SPEEDSCOPE = Form(
    ExportFormat.SPEEDSCOPE.value, "application/json", ("application/vnd.speedscope+json",)
)
CSV = Form(ExportFormat.CSV.value, "text/csv; charset=utf-8", ("text/csv",))


def named(name: str, forms: Sequence[Form]) -> Form:
    return next(form for form in forms if form.name == name)
