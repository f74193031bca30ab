"""Text of a time in URLs."""

from datetime import UTC, datetime


def time_text(time: datetime) -> str:
    """Return a time in RFC 3339, in UTC and whole seconds: `2026-11-20T12:00:00Z`."""
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
