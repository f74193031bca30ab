"""Formatting of differences with an explicit sign; zero is `0`."""

from frontend.components.units import format_percent, format_value


def format_delta(value: float, unit: str) -> str:
    """Format a difference with its unit: `+36.1 ms`, `-2.24 s`, `0`."""
    return f"+{format_value(value, unit)}" if value > 0 else format_value(value, unit)


def format_delta_points(share: float) -> str:
    """Format a difference of shares in percentage points: 0.219 is `+21.9%`."""
    return f"+{format_percent(share, 1)}" if share > 0 else format_percent(share, 1)
