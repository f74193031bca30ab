"""Durations and timestamps in protobuf's JSON encoding."""

from datetime import UTC, datetime


def seconds(value: float) -> str:
    """Format a google.protobuf.Duration: "10s", "0.250s"."""
    whole, rest = divmod(round(value * 1000), 1000)
    return f"{whole}.{rest:03d}s" if rest else f"{whole}s"


def timestamp(moment: datetime) -> str:
    """Format a google.protobuf.Timestamp."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
