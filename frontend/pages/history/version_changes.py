"""What functions cost since a version began, against the steps before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from frontend.components.signed_delta import format_delta, format_delta_points
from profiles.query import HistoryResult, series_changes

Course = Sequence[float | None]  # by step; None without profiles


@dataclass(frozen=True, slots=True)
class Since:
    """The difference of the averages after and before."""

    text: str
    sign: int  # -1, 0 or 1
    tested: bool  # False: too few steps to tell
    real: bool


def changes_since(
    began: datetime, result: HistoryResult, courses: Sequence[Course], *, percent: bool
) -> list[Since]:
    """One for each course; the step within which the version began counts on neither side."""
    step = timedelta(seconds=result.step_seconds)
    before = [i for i, each in enumerate(result.steps) if each.start + step <= began]
    after = [i for i, each in enumerate(result.steps) if each.start >= began]
    known = [[_known(course, steps) for course in courses] for steps in (before, after)]
    if not all(steps and steps[0] for steps in known):
        return [Since("", 0, tested=False, real=False) for _ in courses]
    return [
        Since(
            text=format_delta_points(value) if percent else format_delta(value, result.metric.unit),
            sign=(value > 0) - (value < 0),
            tested=tested,
            real=real,
        )
        for value, tested, real in series_changes(*known)
    ]


def _known(course: Course, steps: Sequence[int]) -> list[float]:
    """Steps without profiles are those of every course."""
    return [value for i in steps if (value := course[i]) is not None]
