"""Template filters for numbers and times."""

from datetime import datetime

from django import template

from common.time_text import time_text
from frontend.text.units import (
    Separators,
    format_count,
    format_percent,
    separators,
    unit_words,
)

register = template.Library()


@register.filter
def percent(share: float) -> str:
    """Format a share in percent: 0.637 is 63.7%."""
    return format_percent(share, 1)


@register.filter
def bar_width(share: float) -> str:
    """Return a bar's width in percent for SVG."""
    return f"{min(1.0, max(0.0, share)) * 100:.1f}%"


@register.filter
def count(number: float) -> str:
    """Format a number with separators between thousands: 12345 is 12,345 in English."""
    return format_count(number)


@register.filter
def rfc3339(time: datetime) -> str:
    """Format a time for the `datetime` attribute of `<time>`."""
    return time_text(time)


@register.simple_tag
def number_separators() -> Separators:
    """Return the separators of thousands and decimals in the interface's language."""
    return separators()


@register.simple_tag
def units_as_words() -> dict[str, str]:
    """Return the units that are words, singular and plural, in the interface's language."""
    return unit_words()
