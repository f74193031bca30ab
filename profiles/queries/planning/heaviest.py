"""Top n % of a selection's profiles by weight, over the head and hour blocks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from profiles.models import Profile
from profiles.queries.planning.block_masks import BlockSelection, Mask
from profiles.queries.planning.head_rows import head_of, share
from profiles.queries.scanning.block_input import UNREADABLE, HourInput
from profiles.timestamps import micros


def heaviest(
    wanted: BlockSelection, percent: float, hours: Sequence[HourInput]
) -> tuple[Q, list[HourInput]]:
    """Return a filter for the head rows in the top `percent`, and the narrowed hour inputs.

    Among profiles of equal weight the newest are chosen, then the last by name, so the choice
    does not depend on where profiles are stored. Unreadable inputs are returned unchanged:
    adding them to a sum reports them.
    """
    rows = head_of(wanted.selection).values_list("weight", "time", "pk")
    found = [(weight, micros(time), pk) for weight, time, pk in rows]
    head = np.array(found, np.int64).reshape(-1, 3)
    masks = [_mask(part) for part in hours]
    meant = [np.empty(0, np.int64) if mask is None else np.flatnonzero(mask) for mask in masks]
    columns = [head[:, :2]]
    for part, rows_of_part in zip(hours, meant, strict=True):
        if len(rows_of_part):
            profiles = part.opened.profiles
            weight, time = profiles.weight[rows_of_part], profiles.time[rows_of_part]
            columns.append(np.stack([weight, time], axis=1))
    names = partial(_names, head[:, 2], [*zip(hours, meant, strict=True)])
    chosen = _top(np.concatenate(columns), percent, names)
    at = len(head)
    narrowed = []
    for part, mask, rows_of_part in zip(hours, masks, meant, strict=True):
        if mask is None:
            narrowed.append(part)
            continue
        kept = np.zeros(len(mask), bool)
        kept[rows_of_part[chosen[at : at + len(rows_of_part)]]] = True
        at += len(rows_of_part)
        narrowed.append(replace(part, chosen=kept))
    return _which(head[chosen[: len(head)]]), narrowed


def _names(
    head: NDArray[np.int64],
    parts: Sequence[tuple[HourInput, NDArray[np.int64]]],
    rows: NDArray[np.int64],
) -> list[str]:
    """Return the names of the profiles at these positions, "" if a block's are unreadable.

    Positions count the head rows first (`head` has their pks), then the marked rows of each
    input in `parts`.
    """
    of_head = dict(
        Profile.objects.filter(pk__in=head[rows[rows < len(head)]].tolist()).values_list(
            "pk", "name_id"
        )
    )
    found = [of_head[pk] for pk in head[rows[rows < len(head)]].tolist()]
    at = len(head)
    for part, meant in parts:
        here = meant[rows[(rows >= at) & (rows < at + len(meant))] - at].tolist()
        at += len(meant)
        found += _names_in(part, here) if here else []
    return found


def _names_in(part: HourInput, rows: Sequence[int]) -> list[str]:
    try:
        names = part.opened.hour.identities.name_id
    except UNREADABLE:
        return [""] * len(rows)
    return [names[row] for row in rows]


def _which(chosen: NDArray[np.int64]) -> Q:
    """Return a filter for the chosen head rows [n, 3] of (weight, time, pk).

    The pks of the lightest rows are listed; the weight identifies all heavier rows.
    """
    if not len(chosen):
        return Q(pk__in=[])
    lightest = int(chosen[:, 0].min())
    edge = chosen[chosen[:, 0] == lightest, 2].tolist()
    return Q(weight__gt=lightest) | Q(pk__in=edge)


def _mask(part: HourInput) -> Mask | None:
    try:
        return part.meant
    except UNREADABLE:
        return None


def _top(
    columns: NDArray[np.int64], percent: float, names: Callable[[NDArray[np.int64]], list[str]]
) -> Mask:
    """Return a mask of the top `percent` of rows [n, 2] of (weight, time).

    `names` is called only for rows that tie in both at the boundary.
    """
    order = np.lexsort((-columns[:, 1], -columns[:, 0]))
    count = share(len(columns), percent)
    chosen = np.zeros(len(columns), bool)
    chosen[order[:count]] = True
    if 0 < count < len(columns):
        last = columns[order[count - 1]]
        tied = np.flatnonzero((columns == last).all(axis=1))
        kept = int(chosen[tied].sum())
        if kept < len(tied):
            chosen[tied] = False
            by_name = sorted(zip(names(tied), tied.tolist(), strict=True), reverse=True)
            chosen[[row for _, row in by_name[:kept]]] = True
    return chosen
