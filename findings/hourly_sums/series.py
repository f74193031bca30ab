"""Series of a service, made of its half days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from detection.series import FunctionSymbol, ServiceSeries
from findings.hourly_sums.half_day import HOURS, HalfDaySums
from profiles.query import select_callers

# A function is left out if its mean is below so many times that of a function that may have been
# omitted in a half day: there its zeros could be such an omission.
_MIN_ABOVE_OMITTED = 2.0


@dataclass(frozen=True)
class WindowSeries:
    """Series of the window, with facts that detection does not need."""

    series: ServiceSeries
    unit: str
    mean_duration_ns: int  # of the profiles of the last day


def build_series(
    service: str, type_: str, end: datetime, half_days: Sequence[HalfDaySums | None]
) -> WindowSeries | None:
    """Join half days that end at `end`; None if none of them has profiles in the latest unit.

    A profile in another unit than the latest one is left out.
    """
    units = [half.unit for half in half_days if half is not None]
    if not units:
        return None
    halves = [half if half and half.unit == units[-1] else None for half in half_days]
    symbols, indexes = _list_functions(halves)
    count, hours = len(symbols), HOURS * len(halves)
    self_sums, total_sums = np.zeros((count, hours)), np.zeros((count, hours))
    self_squares, total_squares = np.zeros((count, hours)), np.zeros((count, hours))
    profiles, totals, durations = np.zeros(hours), np.zeros(hours), np.zeros(hours)
    versions: dict[str, NDArray[np.float64]] = {}
    callers = np.full(count, -1, np.int64)
    for number, half in enumerate(halves):
        if half is None:
            continue
        window = slice(number * HOURS, (number + 1) * HOURS)
        index = indexes[number]
        self_sums[index, window] = half.self_sums
        total_sums[index, window] = half.total_sums
        # Detection sums squares over days: the last hour has those of the half day.
        self_squares[index, window.stop - 1] = half.self_squares
        total_squares[index, window.stop - 1] = half.total_squares
        profiles[window], totals[window] = half.profiles, half.totals
        durations[window] = half.durations_ns
        for version, row in half.versions.items():
            versions.setdefault(version, np.zeros(hours))[window] = row
        has_caller = half.callers >= 0
        callers[index] = np.where(has_caller, index[half.callers], -1)
    chosen = _find_complete(halves, indexes, total_sums, profiles)
    heaviest = np.argsort(-total_sums[chosen].sum(axis=1), kind="stable")
    day = slice(hours - 24, hours)
    first_hour = int(end.timestamp()) // 3600 - hours
    series = ServiceSeries(
        service=service,
        type=type_,
        first_hour=first_hour,
        functions=tuple(symbols[each] for each in chosen.tolist()),
        parent=select_callers(callers, chosen, heaviest.tolist()),
        profiles=profiles,
        totals=totals,
        self_sums=self_sums[chosen],
        self_squares=self_squares[chosen],
        total_sums=total_sums[chosen],
        total_squares=total_squares[chosen],
        versions=tuple(versions),
        version_profiles=np.array([*versions.values()]).reshape(len(versions), hours),
    )
    mean = durations[day].sum() / max(profiles[day].sum(), 1)
    return WindowSeries(series, units[-1], int(mean))


def _list_functions(
    halves: Sequence[HalfDaySums | None],
) -> tuple[list[FunctionSymbol], list[NDArray[np.int64]]]:
    """Return all functions, and for each half day the index of each of its functions."""
    numbers: dict[tuple[str, str], int] = {}
    indexes = []
    for half in halves:
        names = zip(half.names, half.files, strict=True) if half else ()
        found = [numbers.setdefault(each, len(numbers)) for each in names]
        indexes.append(np.array(found, np.int64))
    return [_make_symbol(name, file) for name, file in numbers], indexes


def _make_symbol(name: str, file: str) -> FunctionSymbol:
    """Return the function with its class, or package, as far as its name has them."""
    owner, _, _ = name.rpartition(".")
    folder, _, _ = file.rpartition("/")
    return FunctionSymbol(name, file, owner, folder)


def _find_complete(
    halves: Sequence[HalfDaySums | None],
    indexes: Sequence[NDArray[np.int64]],
    total_sums: NDArray[np.float64],
    profiles: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the functions whose zeros are no omissions, in their order."""
    largest, omitted = np.zeros(len(total_sums)), np.zeros(len(total_sums))
    for number, half in enumerate(halves):
        count = half.profiles.sum() if half else 0
        if half is None or not count:
            continue
        window = slice(number * HOURS, (number + 1) * HOURS)
        largest = np.maximum(largest, total_sums[:, window].sum(axis=1) / count)
        absent = np.ones(len(total_sums), bool)
        absent[indexes[number]] = False
        omitted[absent] = np.maximum(omitted[absent], half.omitted_total / count)
    return np.flatnonzero(largest > _MIN_ABOVE_OMITTED * omitted)
