"""Negative values: sample types that are differences between two profiles.

Go's `/debug/pprof/heap?seconds=N` and Parca's deltas subtract one heap profile from another. The
difference is meaningful for allocations, but not for memory in use, which is negative where it
shrank.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric

_HEAPS = frozenset({"HEAP", "PEAK_HEAP", "HEAP_ALLOC"})


def with_differences(
    profile_type: str,
    metrics: Sequence[Metric],
    below: NDArray[np.int64],
    unread: Collection[int] = (),
) -> set[int]:
    """Return the indexes of the metrics to leave out.

    `below` has the first negative value of each metric, or 0; `unread` has the indexes of metrics
    that are left out for another reason. Objects and bytes of memory are left out together: if one
    is a difference, so is the other. Raise `BadProfile` if no metric remains.
    """
    if not below.any():
        return set()
    negative = np.flatnonzero(below).tolist()
    families = {_family(profile_type, metrics[k]) for k in negative}
    read = [k for k in range(len(metrics)) if k not in unread]
    found = {k for k in read if _family(profile_type, metrics[k]) in families}
    if len(found) == len(read):
        values = "; ".join(f"{_text(metrics[k])} has {below[k]}" for k in negative)
        raise BadProfile(
            f"Every sample type of the profile has negative values: {values}. It is a difference "
            "of two profiles, which is not supported; send the original profiles."
        )
    return found


def difference_warnings(
    metrics: Sequence[Metric], left_out: set[int], below: NDArray[np.int64]
) -> tuple[str, ...]:
    """Return a sentence for each metric that was left out."""
    return tuple(
        f"{_text(metrics[k])} is left out: {_reason(int(below[k]))}" for k in sorted(left_out)
    )


def _reason(value: int) -> str:
    reason = "it is a difference of two profiles"
    return f"{reason}, with negative values such as {value}." if value else f"{reason}."


def _family(profile_type: str, metric: Metric) -> str:
    name = metric.name
    return (
        name.partition("_")[0]
        if profile_type in _HEAPS and "_" in name
        else f"{name} {metric.unit}"
    )


def _text(metric: Metric) -> str:
    return f"{metric.name[:60]} ({metric.unit[:40]})"
