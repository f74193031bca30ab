"""Time ranges offered by the picker, and their names."""

from datetime import timedelta

from django.utils.translation import gettext, ngettext

from frontend.text.units import format_count

OFFERED = (
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(days=1),
    timedelta(days=2),
    timedelta(days=7),
    timedelta(days=14),
    timedelta(days=30),
)


def span_name(span: timedelta) -> str:
    """Format a time range in at most two units: `10 minutes`, `1 day`, `3 hours 20 minutes`."""
    seconds = round(span.total_seconds())
    parts = [
        ngettext("%(n)d day", "%(n)d days", seconds // 86400) % {"n": seconds // 86400},
        ngettext("%(n)d hour", "%(n)d hours", h := seconds // 3600 % 24) % {"n": h},
        ngettext("%(n)d minute", "%(n)d minutes", m := seconds // 60 % 60) % {"n": m},
        ngettext("%(n)d second", "%(n)d seconds", s := seconds % 60) % {"n": s},
    ]
    amounts = (seconds // 86400, h, m, s)
    return " ".join([part for part, amount in zip(parts, amounts, strict=True) if amount][:2])


def span_phrase(span: timedelta) -> str:
    """Format a time range for sentences with `in the last …`: `hour`, `24 hours`, `7 days`."""
    names = {timedelta(hours=1): gettext("hour"), timedelta(days=1): gettext("24 hours")}
    return names.get(span) or span_name(span)


def days_name(days: int) -> str:
    return ngettext("%(n)s day", "%(n)s days", days) % {"n": format_count(days)}
