"""The name of a downloaded file, as Cloud Profiler forms it."""

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
_LONGEST = 60  # of one part


def download_name(selection: Selection, form: str) -> str:
    """`profiler_[SERVICE]_[TYPE]_[FROM]_[TO]_[ZONE]_[VERSION]` and the format's ending.

    Letters, digits, points and dashes alone; `all` where no zone or version is chosen.
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
