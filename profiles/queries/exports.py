"""What is shown, as a file that other programs read."""

from dataclasses import replace
from enum import StrEnum

import numpy as np

from profiles.engine import folded, pprof, sheet, speedscope
from profiles.engine.reshape import summed_down
from profiles.engine.tree import Tree
from profiles.queries.answers import TopResult, TreeResult
from profiles.queries.asked import Group, Selection, Unanswerable, View, check, watched
from profiles.queries.tree import run_top, run_tree

MAX_FRAMES = 20_000_000  # of all stacks of a file, written out: some 100 MB and some seconds
_ALL = 2**31  # nodes: a file is never cut


class ExportFormat(StrEnum):
    PPROF = "pprof"
    FOLDED = "folded"
    SPEEDSCOPE = "speedscope"
    CSV = "csv"  # of the list of functions


@watched
def run_export(
    selection: Selection, view: View, form: ExportFormat, deadline: float | None = None
) -> bytes:
    """The sums over the profiles, uncut: stacks with their lines, or the list of functions.

    pprof's is gzipped. Unanswerable where the stacks are too long in all.
    """
    if form is ExportFormat.CSV:
        return functions_csv(run_top(selection, view, deadline))
    # A root is the id of a node as it is grouped: with other lines there is no such node.
    group = Group.LINE if view.root is None else view.group
    result = run_tree(selection, replace(view, group=group, max_nodes=_ALL), deadline)
    _refuse_too_long(result.tree)
    check(deadline)
    return _stacks(result, form)


def functions_csv(result: TopResult) -> bytes:
    """The rows of the list, with the unit and the number of profiles in the heads."""
    profiles = result.coverage.profiles
    of = f"{result.metric.unit}, sum of {profiles} {'profile' if profiles == 1 else 'profiles'}"
    heads = ["name", "file", f"self ({of})", f"total ({of})", "count (stacks)"]
    rows = ([row.name, row.file, row.self, row.total, row.count] for row in result.rows)
    return sheet.encode(heads, rows).encode()


def _stacks(result: TreeResult, form: ExportFormat) -> bytes:
    if form is ExportFormat.FOLDED:
        return folded.encode(result.tree).encode()
    if form is ExportFormat.SPEEDSCOPE:
        return speedscope.encode(result.tree, result.selection.service)
    coverage = result.coverage
    first = round(coverage.first.timestamp()) * 10**9 if coverage.first else 0
    return pprof.encode(
        result.tree,
        time_ns=first,
        duration_ns=coverage.duration_ns,
        default=result.metric.name,
    )


def _refuse_too_long(tree: Tree) -> None:
    """Every stack is written from its root: a deep tree is far longer than its nodes."""
    depth = summed_down(tree, np.ones(len(tree.parent), np.int64))
    frames = int(depth[tree.self.any(axis=0)].sum())
    if frames > MAX_FRAMES:
        raise Unanswerable(
            f"A file may have {MAX_FRAMES:,} frames in all its stacks; this one would have "
            f"{frames:,}. Choose a part: hide some stacks, or show from a frame."
        )
