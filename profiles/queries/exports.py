"""Export of a view as a file for other programs: pprof, folded stacks, speedscope or CSV."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from profiles.engine.accumulators.split import with_tag_roots
from profiles.engine.calltree.reshape import sum_on_path
from profiles.engine.calltree.tree import Tree
from profiles.engine.exports import csv_file, folded, speedscope
from profiles.engine.metrics import DEFAULT_METRICS
from profiles.engine.pprof import encode
from profiles.queries.context import QueryContext
from profiles.queries.functions import TopResult, run_top
from profiles.queries.merge_query import list_metrics
from profiles.queries.selection import Group, InvalidQuery, Selection, View
from profiles.queries.tree import TreeResult, run_tree
from profiles.queries.tree_merge import MetricsMerge
from profiles.queries.views import apply_view

MAX_FRAMES = 20_000_000  # frames of all stacks of a file: some 100 MB and some seconds
_ALL = 2**31  # nodes: a file is never folded


class ExportFormat(StrEnum):
    PPROF = "pprof"
    FOLDED = "folded"
    SPEEDSCOPE = "speedscope"
    CSV = "csv"  # the list of functions


@dataclass(frozen=True, slots=True)
class ExportFile:
    data: bytes
    left_out: int  # matching profiles that the file leaves out
    headers: Mapping[str, str] = field(default_factory=dict)  # of HTTP, about the file


def run_export(
    context: QueryContext, selection: Selection, view: View, form: ExportFormat
) -> ExportFile:
    """Export sums over the profiles, unfolded: stacks with line numbers, or a CSV of functions.

    Values of the label of a split are frames at the root; in pprof files as `pprof -tagroot` writes
    them, with the value as the function's name and the label as its file. A CSV file has no split.
    Stacks of a view with a root keep the view's grouping. pprof files are gzipped and contain
    all metrics that the profiles share. Raise InvalidQuery if the stacks have more than
    MAX_FRAMES frames together.
    """
    context.record.facts.download = form.value
    if form is ExportFormat.CSV:
        top = run_top(context, selection, view)
        return ExportFile(functions_csv(top), top.coverage.left_out)
    # The id of the root depends on the grouping: no node has it in a tree grouped otherwise.
    group = Group.LINE if view.root is None else view.group
    if form is ExportFormat.PPROF:
        return _pprof(context, selection, replace(view, group=group))
    result = run_tree(context, selection, replace(view, group=group, max_nodes=_ALL))
    limit_frames(context, result.tree)
    return ExportFile(_stacks(context, result, form), result.coverage.left_out)


def functions_csv(result: TopResult) -> bytes:
    """Encode a list of functions; column headers name the unit and the number of profiles."""
    profiles = result.coverage.profiles
    quantity = (
        f"{result.metric.unit}, sum of {profiles} {'profile' if profiles == 1 else 'profiles'}"
    )
    if left_out := result.coverage.left_out:
        quantity += f", {left_out} left out"
    heads = ["name", "file", f"self ({quantity})", f"total ({quantity})", "count (stacks)"]
    rows = ([row.name, row.file, row.self, row.total, row.count] for row in result.rows)
    return csv_file.encode(heads, rows).encode()


def _stacks(context: QueryContext, result: TreeResult, form: ExportFormat) -> bytes:
    if form is ExportFormat.FOLDED:
        return folded.encode(result.tree, check=context.check).encode()
    return speedscope.encode(result.tree, result.selection.service, check=context.check)


def _pprof(context: QueryContext, selection: Selection, view: View) -> ExportFile:
    """Export a pprof file with every metric that the profiles share.

    The metrics are in the order of Go's files, with the type's default metric last.
    """
    type_ = selection.type.value
    with context.snapshot:
        metrics = list_metrics(context, selection)
        file_metrics = sorted(metrics, key=lambda each: (each == DEFAULT_METRICS[type_], each))
        merged = MetricsMerge(selection, view, view.group, tuple(file_metrics)).run(context)
    coverage = merged.sum.coverage
    tree = apply_view(context, merged.sum.tree, view)
    limit_frames(context, tree)
    if view.split is not None:
        tree = with_tag_roots(tree, view.split.label)
    data = encode.encode(
        tree,
        time_ns=round(coverage.first.timestamp()) * 10**9 if coverage.first else 0,
        duration_ns=coverage.duration_ns,
        default=merged.metric.name,
        period_type=encode.PERIOD_TYPES.get(type_),
        comments=[
            f"Profiles left out: {each.profiles}. {each.explanation}" for each in coverage.missing
        ],
        check=context.check,
    )
    return ExportFile(data, coverage.left_out)


def limit_frames(context: QueryContext, tree: Tree) -> None:
    """Raise InvalidQuery if the stacks of the tree have too many frames for a file.

    A file repeats every stack from its root, so a deep tree has far more frames than nodes.
    """
    depth = sum_on_path(tree, np.ones(len(tree.parent), np.int64), context.check)
    frames = int(depth[tree.self.any(axis=0)].sum())
    if frames > MAX_FRAMES:
        raise InvalidQuery(
            f"The stacks of this file would have {frames:,} frames in total; the limit is "
            f"{MAX_FRAMES:,}. Hide some stacks, or start at a frame."
        )
    context.check()
