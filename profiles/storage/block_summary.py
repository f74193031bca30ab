"""Summary of a block, a JSON column of its row.

Menus, timelines and profile lists are built from summaries, without reading blobs.
"""

from typing import TypedDict

import numpy as np

from profiles.engine.blocks import ProfileColumns
from profiles.engine.blocks.sparse_values import exact_sum

MOST_LABELS = 50  # label names in a summary
MOST_VALUES = 200  # values of each label name; the most frequent ones
# Seconds of one step of `course` in blocks of level 0, level 1 (hour) and level 2 (day).
FINEST, FINE, COARSE = 60, 300, 3600


class BlockSummary(TypedDict):
    """JSON form of a summary. Times are in µs since 1970 unless noted."""

    first: int
    last: int
    # By Deployment.pk: [profiles, Σ weight, Σ duration in ns, first, last]
    deployments: dict[str, list[int]]
    metrics: list[tuple[str, str, int]]  # name, unit, number of profiles with this metric
    labels: dict[str, dict[str, int]]  # number of profiles by label name and value
    step: int  # seconds
    # Non-empty steps in order of time: [start in s since 1970, profiles, Σ weight]
    course: list[tuple[int, int, int]]
    weights: list[int]  # [minimum, maximum]
    duration_ns: int  # sum over the profiles
    by_labels: bool  # values can be selected by profile labels
    moments: bool  # variance is available: from the single profiles or as sum_of_squares and count


def build_summary(
    profiles: ProfileColumns, step: int = FINE, *, by_labels: bool = True, moments: bool = True
) -> BlockSummary:
    """Summarise the profiles of a block, at least one, with `step` seconds per step."""
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
    result = {}
    for pk in np.unique(profiles.deployment).tolist():
        selected = profiles.deployment == pk
        time = profiles.time[selected]
        result[str(pk)] = [
            int(selected.sum()),
            exact_sum(profiles.weight[selected]),
            exact_sum(profiles.duration_ns[selected]),
            int(time.min()),
            int(time.max()),
        ]
    return result


def _labels(profiles: ProfileColumns) -> dict[str, dict[str, int]]:
    """Count profiles by label name and value, limited to MOST_LABELS and MOST_VALUES."""
    counts = np.bincount(profiles.label_set, minlength=len(profiles.label_sets)).tolist()
    result: dict[str, dict[str, int]] = {}
    for labels, count in zip(profiles.label_sets, counts, strict=True):
        for name, value in labels:
            if count and (name in result or len(result) < MOST_LABELS):
                values = result.setdefault(name, {})
                values[value] = values.get(value, 0) + count
    return {name: _most_frequent(values) for name, values in result.items()}


def _most_frequent(values: dict[str, int]) -> dict[str, int]:
    return dict(sorted(values.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_VALUES])


def _course(profiles: ProfileColumns, step: int) -> list[tuple[int, int, int]]:
    steps = profiles.time // (step * 10**6)
    return [
        (start * step, int((steps == start).sum()), exact_sum(profiles.weight[steps == start]))
        for start in np.unique(steps).tolist()
    ]
