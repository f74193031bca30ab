"""File names of downloads, in the format of Cloud Profiler."""

import re
from datetime import UTC, datetime

from profiles.query import Selection

ENDINGS = {
    "pprof": "pb.gz",
    "folded": "folded.txt",
    "speedscope": "speedscope.json",
    "csv": "csv",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST = 60  # characters per component of the name


def download_name(selection: Selection, form: str) -> str:
    """Return `profiler_[SERVICE]_[TYPE]_[FROM]_[TO]_[ZONE]_[VERSION]` with the format's extension.

    Contains only letters, digits, dots and dashes; a zone or version without a filter is `all`.
    """
    parts = (
        selection.service,
        selection.type.value,
        _moment(selection.start),
        _moment(selection.end),
        "-".join(selection.zones) or "all",
        "-".join(selection.versions) or "all",
    )
    safe = (_UNSAFE.sub("-", part)[:_LONGEST] for part in parts)
    return f"profiler_{'_'.join(safe)}.{ENDINGS[form]}"


def _moment(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y%m%dT%H%M%SZ}"
