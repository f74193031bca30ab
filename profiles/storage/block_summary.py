"""The summary of a block, in its row: what menus, strips and lists ask without reading blobs."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns

MOST_LABELS = 50  # names of labels
MOST_VALUES = 200  # of each; beyond, menus have the most frequent ones
# Seconds of a step of the course: of parts of an hour, of hour blocks, of day blocks.
FINEST, FINE, COARSE = 60, 300, 3600


class BlockSummary(TypedDict):
    """JSON; times in µs since 1970."""

    first: int
    last: int
    # By Deployment.pk: [profiles, Σ weight, Σ duration in ns, first, last]
    deployments: dict[str, list[int]]
    metrics: list[tuple[str, str, int]]  # name, unit, profiles that have it
    labels: dict[str, dict[str, int]]  # by name and value: profiles
    step: int  # seconds
    course: list[tuple[int, int, int]]  # start in s since 1970, profiles, Σ weight
    weights: list[int]  # the least, and the most
    duration_ns: int  # Σ
    by_labels: bool  # its values can be had by labels
    moments: bool  # it has the moments of its profiles, or the profiles themselves


def summary_of(
    profiles: ProfileColumns, step: int = FINE, *, by_labels: bool = True, moments: bool = True
) -> BlockSummary:
    """Of at least one profile."""
    return BlockSummary(
        first=int(profiles.time.min()),
        last=int(profiles.time.max()),
        deployments=_deployments(profiles),
        metrics=[
            (*metric, int(profiles.has[k].sum())) for k, metric in enumerate(profiles.metrics)
        ],
        labels=_labels(profiles),
        step=step,
        course=_course(profiles, step),
        weights=[int(profiles.weight.min()), int(profiles.weight.max())],
        duration_ns=exact_sum(profiles.duration_ns),
        by_labels=by_labels,
        moments=moments,
    )


def _deployments(profiles: ProfileColumns) -> dict[str, list[int]]:
    found = {}
    for pk in np.unique(profiles.deployment).tolist():
        mine = profiles.deployment == pk
        time = profiles.time[mine]
        found[str(pk)] = [
            int(mine.sum()),
            exact_sum(profiles.weight[mine]),
            exact_sum(profiles.duration_ns[mine]),
            int(time.min()),
            int(time.max()),
        ]
    return found


def _labels(profiles: ProfileColumns) -> dict[str, dict[str, int]]:
    counts = np.bincount(profiles.label_set, minlength=len(profiles.label_sets)).tolist()
    found: dict[str, dict[str, int]] = {}
    for labels, count in zip(profiles.label_sets, counts, strict=True):
        for name, value in labels:
            if count and (name in found or len(found) < MOST_LABELS):
                values = found.setdefault(name, {})
                values[value] = values.get(value, 0) + count
    return {name: _most_frequent(values) for name, values in found.items()}


def _most_frequent(values: dict[str, int]) -> dict[str, int]:
    return dict(sorted(values.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_VALUES])


def _course(profiles: ProfileColumns, step: int) -> list[tuple[int, int, int]]:
    steps = profiles.time // (step * 10**6)
    return [
        (start * step, int((steps == start).sum()), exact_sum(profiles.weight[steps == start]))
        for start in np.unique(steps).tolist()
    ]


def exact_sum(values: NDArray[np.int64] | Sequence[int]) -> int:
    """Σ that no number of bits limits."""
    column = np.asarray(values, np.int64)
    if float(np.abs(column.astype(np.float64)).sum()) < 2.0**62:
        return int(column.sum())
    whole: list[Any] = column.tolist()
    return sum(whole)
