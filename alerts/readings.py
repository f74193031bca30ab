"""Points of a service and type: the sums that conditions are evaluated on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from alerts.conditions.points import StepSums
from profiles.query import (
    FilterOption,
    HistoryStep,
    ProfileSelection,
    QueryContext,
    QueryJob,
    View,
    ViewFilter,
    is_expression,
    run_history,
    run_series,
)
from projects.profile_types import ProfileType

MAX_STEPS = 360  # of one query
_FUNCTIONS_A_QUERY = 50
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class PointRange:
    """Time steps of a service and type; start and end are multiples of the step since 1970."""

    service: str
    type: ProfileType
    start: datetime
    end: datetime
    step: timedelta

    def split(self) -> list["PointRange"]:
        """Return ranges of at most MAX_STEPS steps each, in order of time."""
        length, ranges, start = MAX_STEPS * self.step, [], self.start
        while start < self.end:
            end = min(start + length, self.end)
            ranges.append(PointRange(self.service, self.type, start, end, self.step))
            start = end
        return ranges


PointsByFunction = dict[str, list[StepSums]]
# Fields of a StepSums with its time as a Unix timestamp: results of workers are plain values.
SumRow = tuple[int, int, int, int, int]


def load_points(
    context: QueryContext, steps: PointRange, functions: Sequence[str]
) -> PointsByFunction:
    """Return the points of each function, "" for the whole service, in order of time.

    Each function's are those of its total, recursion counted once. `/an expression/` stands for all
    functions that it matches: the sum of the stacks that have one of them. They are read in a
    worker process, which charges the project, with one query for MAX_STEPS steps and 50 functions,
    or one expression. Raise InvalidQuery and DeadlinePassed.
    """
    found: PointsByFunction = {name: [] for name in functions}
    for part in steps.split():
        context.check()
        for name, rows in QueryJob(read_sums, (part, tuple(functions)))(context).items():
            found[name] += [_build_point(row) for row in rows]
    return found


def _build_point(row: SumRow) -> StepSums:
    end, profiles, value, total, duration_ns = row
    return StepSums(datetime.fromtimestamp(end, UTC), profiles, value, total, duration_ns)


def read_sums(
    context: QueryContext, steps: PointRange, functions: tuple[str, ...]
) -> dict[str, list[SumRow]]:
    """Return the sums of one range of at most MAX_STEPS steps; called in a worker process."""
    selection = ProfileSelection(context.project, steps.service, steps.type, steps.start, steps.end)
    names = [name for name in functions if name and not is_expression(name)]
    expressions = [name for name in functions if is_expression(name)]
    found: dict[str, list[SumRow]] = {}
    with context.snapshot:
        if expressions or not names:  # no call tree has to be read for the whole
            whole = run_series(context, selection, View(), step=steps.step, size=1).steps
            found[""] = _list_sums(whole, [each.total for each in whole], steps.step)
            for expression in expressions:
                view = View(filters=(ViewFilter(FilterOption.SHOW, expression),))
                shown = run_series(context, selection, view, step=steps.step, size=1).steps
                found[expression] = _list_sums(whole, _align(shown, whole), steps.step)
        for first in range(0, len(names), _FUNCTIONS_A_QUERY):
            some = names[first : first + _FUNCTIONS_A_QUERY]
            history = run_history(context, selection, View(), step=steps.step, names=some)
            sums = {name: [0] * len(history.steps) for name in some}
            for line in history.lines:  # of one name in several files
                if line.name in sums:
                    sums[line.name] = [
                        a + b for a, b in zip(sums[line.name], line.total, strict=True)
                    ]
            sums[""] = [each.total for each in history.steps]
            for name, values in sums.items():
                found[name] = _list_sums(history.steps, values, steps.step)
    return {name: found[name] for name in functions}


def _align(shown: Sequence[HistoryStep], whole: Sequence[HistoryStep]) -> list[int]:
    """Return the total of `shown` for each step of `whole`: 0 if it has no such step."""
    totals = {each.start: each.total for each in shown}
    return [totals.get(each.start, 0) for each in whole]


def _list_sums(
    steps: Sequence[HistoryStep], values: Sequence[int], length: timedelta
) -> list[SumRow]:
    return [
        (
            int((each.start + length).timestamp()),
            each.profiles,
            value,
            each.total,
            each.duration_ns,
        )
        for each, value in zip(steps, values, strict=True)
    ]
