"""Numbers and moments in templates, by the modules that format them."""

from datetime import datetime

from django import template

from frontend.components.units import format_count, format_percent
from frontend.queries.params import time_text

register = template.Library()


@register.filter
def percent(share: float) -> str:
    """0.637 is 63.7%."""
    return format_percent(share, 1)


@register.filter
def bar_width(share: float) -> str:
    """The width of a bar's rectangle, as SVG wants it."""
    return f"{min(1.0, max(0.0, share)) * 100:.1f}%"


@register.filter
def count(number: float) -> str:
    """12345 is 12,345."""
    return format_count(number)


@register.filter
def rfc3339(time: datetime) -> str:
    """As <time datetime="…"> has it."""
    return time_text(time)
