"""Parsers of single parameter values; each raises ValueError with a text of what is allowed."""

import re
from datetime import UTC, datetime, timedelta
from enum import Enum

LONGEST_SPAN = timedelta(days=400)
MAX_TEXT = 512  # characters of a service, zone, version or label
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
YEARS = range(2000, 2200)


class Now(Enum):
    """The word `now` in place of a time."""

    NOW = "now"


def time_or_now(text: str) -> datetime | Now:
    """Parse a time as `time` does, or the word `now`."""
    return Now.NOW if text == Now.NOW.value else time(text)


def time(text: str) -> datetime:
    """Parse an RFC 3339 time with a time zone; return it in UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is not None and moment.tzinfo and moment.year in YEARS:
        moment = moment.astimezone(UTC)
        if moment.year in YEARS:  # in UTC, too
            return moment
    raise ValueError(
        f"{_quote(text)} is neither now nor an RFC 3339 time with a zone, like "
        "2026-11-21T09:30:00Z (in an address a + has to be written %2B)"
    )


def with_zone(text: str) -> str:
    """Return a time without a time zone as one in UTC, and any other text unchanged."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo else moment.replace(tzinfo=UTC).isoformat()


def span(text: str) -> timedelta:
    """Parse a duration: a whole number and one of the units s, m, h, d, w."""
    found = re.fullmatch(r"([0-9]{1,8})([smhdw])", text)
    length = timedelta(seconds=int(found[1]) * UNITS[found[2]]) if found else timedelta(0)
    if not timedelta(0) < length <= LONGEST_SPAN:
        raise ValueError(
            f"{_quote(text)} is no duration like 10m, 6h or 7d, of {LONGEST_SPAN.days} days at most"
        )
    return length


def percent(text: str) -> float:
    """Parse a percentage greater than 0 and at most 100."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) or not 0 < float(text) <= 100:
        raise ValueError(f"{_quote(text)} is no percentage above 0, of 100 at most")
    return float(text)


def weights(text: str) -> tuple[int, int]:
    """Parse a range of weights, `<least>..<most>`, both inclusive."""
    found = re.fullmatch(r"([0-9]{1,18})\.\.([0-9]{1,18})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise ValueError(f"{_quote(text)} is no range of totals like 1000000..2500000")
    return int(found[1]), int(found[2])


def node(text: str) -> int:
    """Parse the id of a call tree node: 16 hexadecimal digits."""
    if not re.fullmatch(r"[0-9a-f]{16}", text):
        raise ValueError(f"{_quote(text)} is no id of a node, which has 16 hexadecimal digits")
    return int(text, 16)


def count(text: str, most: int) -> int:
    """Parse a whole number from 1 to `most`."""
    if not re.fullmatch(r"[0-9]{1,19}", text) or not 1 <= int(text) <= most:
        raise ValueError(f"{_quote(text)} is no number from 1 to {most:,}")
    return int(text)


def page(text: str) -> int:
    """Parse a page number, at least 1, of which the first nine digits count."""
    if not re.fullmatch(r"[0-9]+", text) or int(text[:9]) < 1:
        raise ValueError(f"{_quote(text)} is no number of a page")
    return int(text[:9])


def choice(text: str, allowed: tuple[str, ...]) -> str:
    if text not in allowed:
        raise ValueError(f"{_quote(text)} is none of {', '.join(allowed)}")
    return text


def short(text: str, most: int = MAX_TEXT) -> str:
    """Return the text if it has at most `most` characters."""
    if len(text) > most:
        raise ValueError(f"may have {most:,} characters; this one has {len(text):,}")
    return text


def cut(text: str, most: int = MAX_TEXT) -> str:
    return text[:most]


def _quote(text: str) -> str:
    return repr(text[:60])
