"""google.protobuf.Duration in its JSON form: "10s", "0.250s"."""

import re

_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s", re.ASCII)


def parse(value: object) -> float | None:
    """Return the seconds, or None if `value` is not a duration."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return float(found[1]) if found else None


def text(seconds: float) -> str:
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{whole}.{rest:03d}s" if rest else f"{whole}s"
