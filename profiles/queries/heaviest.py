"""Top n % of a selection's profiles by weight, over the head and hour blocks."""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from profiles.engine.blocks import Mask
from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.scan_input import UNREADABLE, HourInput


def heaviest(
    rows: QuerySet[Profile], percent: float, hours: Sequence[HourInput]
) -> tuple[Q, list[HourInput]]:
    """Return a filter for the head rows in the top `percent`, and the narrowed hour inputs.

    Among profiles of equal weight the newest are chosen, then the last by name, so the choice
    does not depend on where profiles are stored. Unreadable inputs are returned unchanged:
    adding them to a sum reports them.
    """
    values = rows.values_list("weight", "time", "pk")
    keys = [(weight, micros(time), pk) for weight, time, pk in values]
    head = np.array(keys, np.int64).reshape(-1, 3)
    masks = [_mask(hour) for hour in hours]
    matching = [np.empty(0, np.int64) if mask is None else np.flatnonzero(mask) for mask in masks]
    columns = [head[:, :2]]
    for hour, indexes in zip(hours, matching, strict=True):
        if len(indexes):
            profiles = hour.opened.profiles
            weight, time = profiles.weight[indexes], profiles.time[indexes]
            columns.append(np.stack([weight, time], axis=1))
    names = partial(_names, head[:, 2], [*zip(hours, matching, strict=True)])
    chosen = _top(np.concatenate(columns), percent, names)
    offset = len(head)
    narrowed = []
    for hour, mask, indexes in zip(hours, masks, matching, strict=True):
        if mask is None:
            narrowed.append(hour)
            continue
        chosen_mask = np.zeros(len(mask), bool)
        chosen_mask[indexes[chosen[offset : offset + len(indexes)]]] = True
        offset += len(indexes)
        narrowed.append(hour.choose(chosen_mask))
    return _head_filter(head[chosen[: len(head)]]), narrowed


def top_count(count: int, percent: float) -> int:
    """Return the number of profiles in the top `percent` of `count`: at least 1 if count > 0."""
    return ceil(count * percent / 100)


def _names(
    head: NDArray[np.int64],
    hours: Sequence[tuple[HourInput, NDArray[np.int64]]],
    rows: NDArray[np.int64],
) -> list[str]:
    """Return the names of the profiles at these positions, "" if a block's are unreadable.

    Positions count the head rows first (`head` has their pks), then the marked rows of each
    input in `hours`.
    """
    pks = head[rows[rows < len(head)]].tolist()
    by_pk = dict(Profile.objects.filter(pk__in=pks).values_list("pk", "name_id"))
    names = [by_pk[pk] for pk in pks]
    offset = len(head)
    for hour, matching in hours:
        here = matching[rows[(rows >= offset) & (rows < offset + len(matching))] - offset].tolist()
        offset += len(matching)
        names += _read_names(hour, here) if here else []
    return names


def _read_names(hour: HourInput, rows: Sequence[int]) -> list[str]:
    try:
        names = hour.opened.hour.names
    except UNREADABLE:
        return [""] * len(rows)
    return [names[row] for row in rows]


def _head_filter(chosen: NDArray[np.int64]) -> Q:
    """Return a filter for the chosen head rows [n, 3] of (weight, time, pk).

    The pks of the lightest rows are listed; the weight identifies all heavier rows.
    """
    if not len(chosen):
        return Q(pk__in=[])
    lightest = int(chosen[:, 0].min())
    edge = chosen[chosen[:, 0] == lightest, 2].tolist()
    return Q(weight__gt=lightest) | Q(pk__in=edge)


def _mask(hour: HourInput) -> Mask | None:
    try:
        return hour.matching
    except UNREADABLE:
        return None


def _top(
    columns: NDArray[np.int64], percent: float, names: Callable[[NDArray[np.int64]], list[str]]
) -> Mask:
    """Return a mask of the top `percent` of rows [n, 2] of (weight, time).

    `names` is called only for rows that tie in both at the boundary.
    """
    order = np.lexsort((-columns[:, 1], -columns[:, 0]))
    count = top_count(len(columns), percent)
    chosen = np.zeros(len(columns), bool)
    chosen[order[:count]] = True
    if 0 < count < len(columns):
        last = columns[order[count - 1]]
        tied = np.flatnonzero((columns == last).all(axis=1))
        chosen_ties = int(chosen[tied].sum())
        if chosen_ties < len(tied):
            chosen[tied] = False
            by_name = sorted(zip(names(tied), tied.tolist(), strict=True), reverse=True)
            chosen[[row for _, row in by_name[:chosen_ties]]] = True
    return chosen
