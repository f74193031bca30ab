"""Change in a function's cost since a version first appeared, compared with the steps before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from frontend.text.units import format_delta, format_delta_points
from profiles.query import HistoryResult, series_changes

Course = Sequence[float | None]  # values by step; None without profiles


@dataclass(frozen=True, slots=True)
class Since:
    """Difference of the averages after and before the version first appeared."""

    text: str
    sign: int  # -1, 0 or 1
    tested: bool  # False if there are too few steps to test
    real: bool


def changes_since(
    began: datetime, result: HistoryResult, courses: Sequence[Course], *, percent: bool
) -> list[Since]:
    """Compare each series before and after `began`.

    The step in which the version first appeared counts on neither side.
    """
    step = timedelta(seconds=result.step_seconds)
    before = [i for i, each in enumerate(result.steps) if each.start + step <= began]
    after = [i for i, each in enumerate(result.steps) if each.start >= began]
    values = [[_list_values(course, steps) for course in courses] for steps in (before, after)]
    if not all(steps and steps[0] for steps in values):
        return [Since("", 0, tested=False, real=False) for _ in courses]
    return [
        Since(
            text=format_delta_points(value) if percent else format_delta(value, result.metric.unit),
            sign=(value > 0) - (value < 0),
            tested=tested,
            real=real,
        )
        for value, tested, real in series_changes(*values)
    ]


def _list_values(course: Course, steps: Sequence[int]) -> list[float]:
    """Return the values at the given steps, without those that have no profiles.

    Steps without profiles are the same in every series.
    """
    return [value for i in steps if (value := course[i]) is not None]
