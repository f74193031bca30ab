"""Measure the build cost, size and merge speed of blocks.

Run `python -m benchmarks blocks [--only SHAPE]`. This measures the engine alone; the benchmarks of
queries include Django, the database and JSON.
"""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.engine.block_sets import PART, Blocks, build_blocks
from benchmarks.tools.shapes import SHAPES
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import cpu_ms
from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import open_day, open_hour
from profiles.engine.metrics import DEFAULT_METRICS
from profiles.engine.stats.sum_of_squares import VarianceMerge

# All by shape. Bytes per profile after compaction: the limit, and the figure of Pyroscope.
PROFILE_BYTES = {
    "A": (2_000, "3,100"),
    "D": (600, "633"),
    "H": (10_000, "17,000"),
    "C": (40_000, "65,000"),
}
MAX_BUILD_MS = {"A": 0.8}  # CPU time per profile
MAX_PROFILES = {"A": 5_760, "D": 43_200, "H": 1_440, "C": 480}
HEAD_TREES = {"A": 250, "D": 6_000}  # call trees that are merged as from head rows


def main(arguments: list[str] | None = None) -> int:
    only, within_limits = _options(arguments or []).only, True
    for name in [only] if only else SHAPES:
        blocks = build_blocks(name, MAX_PROFILES[name], HEAD_TREES.get(name, 0))
        within_limits &= show(_format_title(blocks), [*_stored(blocks), *_merged(blocks)])
    return 0 if within_limits else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks blocks")
    parser.add_argument("--only", choices=SHAPES, help="the set of one shape")
    return parser.parse_args(arguments)


def _format_title(blocks: Blocks) -> str:
    return (
        f"Blocks: {blocks.profiles:,} profiles of shape {blocks.name}, "
        f"{blocks.per_profile(blocks.head_bytes) / 1e3:.1f} kB each in the head"
    )


def _stored(blocks: Blocks) -> list[Figure]:
    days = sum(map(len, blocks.days))
    hours, whole = sum(map(len, blocks.hours)), sum(map(len, blocks.whole_days))
    limit, pyroscope = PROFILE_BYTES[blocks.name]
    made = blocks.per_profile(blocks.hours_ms + blocks.days_ms)
    in_parts = blocks.per_profile(blocks.in_parts_ms + blocks.days_ms)
    most = MAX_BUILD_MS.get(blocks.name)
    return [
        Figure("making hour and day blocks", made, "ms CPU/profile", most),
        Figure(f"the same, hours from parts of {PART}", in_parts, "ms CPU/profile", most),
        Figure(
            "one block of a day's hours, more",
            blocks.per_profile(blocks.whole_days_ms),
            "ms CPU/profile",
        ),
        Figure("hours and days", blocks.per_profile(hours + days), "B/profile"),
        Figure(
            "one block of a day's hours, and days",
            blocks.per_profile(whole + days),
            "B/profile",
            limit,
            f"Pyroscope: {pyroscope}",
        ),
    ]


def _merged(blocks: Blocks) -> list[Figure]:
    metric = DEFAULT_METRICS[SHAPES[blocks.name].type]
    figures = [
        ("two hours, but for their edges", lambda: _hours(Merge([metric], True), blocks.hours[:2])),
        ("the same with moments", lambda: _hours(VarianceMerge(metric), blocks.hours[:2])),
        ("six hours", lambda: _hours(Merge([metric], True), blocks.hours[:6], 0)),
        ("all days", lambda: _days(Merge([metric], True), blocks.days)),
        ("all days with moments", lambda: _days(VarianceMerge(metric), blocks.days)),
    ]
    if blocks.last:
        named = f"{len(blocks.last):,} profiles in the head"
        figures.append((named, lambda: _head(Merge([metric], True), blocks.last)))
        figures.append(
            (f"{named}, with moments", lambda: _head(VarianceMerge(metric), blocks.last))
        )
    return [Figure(f"merge {what}", cpu_ms(work, 5, 1), "ms CPU") for what, work in figures]


def _hours(merge: Merge, blocks: Sequence[bytes], left_out: int = 5) -> object:
    for data in blocks:
        block = open_hour(data)
        merge.add_hour(block, np.arange(block.rows) >= left_out)
    return merge.tree()


def _days(merge: Merge, blocks: Sequence[bytes]) -> object:
    for data in blocks:
        merge.add_day(open_day(data))
    return merge.tree()


def _head(merge: Merge, trees: Sequence[bytes]) -> object:
    for data in trees:
        merge.add_encoded(data)
    return merge.tree()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
