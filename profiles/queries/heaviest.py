"""The top n % of a selection by weight, wherever its profiles are stored."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from profiles.queries.block_part import UNREADABLE, HourPart
from profiles.queries.head_rows import share, unweighted
from profiles.queries.wanted import Mask, Wanted, micros


def heaviest(wanted: Wanted, percent: float, hours: Sequence[HourPart]) -> tuple[Q, list[HourPart]]:
    """Which head rows belong to it, and the hour parts so narrowed.

    Of equal weight the newest. What cannot be read now is left as it is: whoever adds it says so.
    """
    head = np.array(
        [
            (weight, micros(time), pk)
            for weight, time, pk in unweighted(wanted.selection).values_list("weight", "time", "pk")
        ],
        np.int64,
    ).reshape(-1, 3)
    masks = [_mask(part) for part in hours]
    columns = [head[:, :2]]
    for part, mask in zip(hours, masks, strict=True):
        if mask is not None:
            profiles = part.opened.profiles
            columns.append(np.stack([profiles.weight[mask], profiles.time[mask]], axis=1))
    chosen = _top(np.concatenate(columns), percent)
    at = len(head)
    narrowed = []
    for part, mask in zip(hours, masks, strict=True):
        if mask is None:
            narrowed.append(part)
            continue
        count = int(mask.sum())
        kept = np.zeros(len(mask), bool)
        kept[np.flatnonzero(mask)[chosen[at : at + count]]] = True
        at += count
        narrowed.append(replace(part, chosen=kept))
    return _which(head[chosen[: len(head)]]), narrowed


def _which(chosen: NDArray[np.int64]) -> Q:
    """Of rows (weight, time, pk): all but the lightest are told by their weight."""
    if not len(chosen):
        return Q(pk__in=[])
    lightest = int(chosen[:, 0].min())
    edge = chosen[chosen[:, 0] == lightest, 2].tolist()
    return Q(weight__gt=lightest) | Q(pk__in=edge)


def _mask(part: HourPart) -> Mask | None:
    try:
        return part.meant
    except UNREADABLE:
        return None


def _top(columns: NDArray[np.int64], percent: float) -> Mask:
    """Of rows (weight, time), which are the top `percent`."""
    order = np.lexsort((-columns[:, 1], -columns[:, 0]))
    chosen = np.zeros(len(columns), bool)
    chosen[order[: share(len(columns), percent)]] = True
    return chosen
