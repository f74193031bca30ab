"""Values of a chart's time steps: rounded for the drawing, and in the table of all steps."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.text import Truncator


@dataclass(frozen=True, slots=True)
class StepValues:
    """Row of the table of all steps."""

    start: datetime
    profiles: int
    values: list[str]  # of each series; "" without profiles


def shorten_heading(name: str) -> str:
    """Return a name for the heading of a column in the table of all steps."""
    return Truncator(name).chars(40)


def round_plotted(value: float | None) -> float | None:
    """Round to five significant digits, more than a chart's readout shows."""
    return None if value is None else float(f"{value:.5g}")
