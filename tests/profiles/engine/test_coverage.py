"""Coverage of a sum, counted from rows of a block and from single profiles."""

from datetime import timedelta

import numpy as np

from profiles.engine.blocks.sections.profile_columns import build_profile_columns
from profiles.engine.coverage import MOST_LISTED, Reason, ScanStats
from profiles.engine.metrics import Metric
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.random_trees import tree_of
from tests.profiles.pprofs import EXAMPLE
from tests.profiles.rows import NOON

CPU, WALL = Metric("cpu", "nanoseconds"), Metric("wall", "nanoseconds")
SECOND = timedelta(seconds=1)


def test_rows_are_counted_by_metric() -> None:
    columns = build_profile_columns([profile_of(tree_of(EXAMPLE)) for _ in range(3)])
    metric, every = columns.metrics[0], np.ones(3, bool)
    missing = Metric("apples", "count")
    stats = ScanStats(shared={metric, missing})
    stats.take_rows(columns, metric, every, ~every)
    assert (stats.profiles, stats.total) == (3, int(columns.totals[0].sum()))
    assert stats.duration_ns == int(columns.duration_ns.sum())
    assert stats.shared == {metric}
    stats.take_rows(columns, missing, ~every, every)
    assert stats.profiles == 3
    (left_out,) = stats.coverage().missing
    assert (left_out.profiles, left_out.reason) == (3, Reason.NO_METRIC)
    assert metric.name in left_out.explanation


def test_two_counts_add_up() -> None:
    first, second, whole = ScanStats(), ScanStats(), ScanStats()
    first.take(2, 10, 5, NOON, NOON + SECOND)
    second.take(1, 7, 5, NOON - SECOND, NOON)
    second.leave_out(NOON, NOON + SECOND, "damaged")
    second.lack(CPU, [WALL], 4, NOON, NOON)
    for each in (first, second):
        whole.add(each)
    coverage = whole.coverage()
    assert (coverage.profiles, coverage.total, coverage.duration_ns) == (3, 17, 10)
    assert (coverage.first, coverage.last) == (NOON - SECOND, NOON + SECOND)
    assert (coverage.left_out, coverage.is_readable) == (5, False)


def test_groups_without_the_metric_are_bounded() -> None:
    stats = ScanStats()
    for number in range(2 * MOST_LISTED):
        stats.lack(CPU, [Metric(f"metric-{number:02}", "count")], 1, NOON, NOON)
    coverage = stats.coverage()
    assert len(coverage.missing) == MOST_LISTED + 1
    assert (coverage.left_out, coverage.is_readable) == (2 * MOST_LISTED, True)
