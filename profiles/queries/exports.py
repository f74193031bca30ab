"""Export of a view as a file for other programs: pprof, folded stacks, speedscope or CSV."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from django.conf import settings

from profiles.engine.calltree.merge import Merge
from profiles.engine.calltree.reshape import summed_down
from profiles.engine.calltree.split import with_tag_roots
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.exports import csv_file, folded, speedscope
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.pprof import encode
from profiles.queries.context import QueryContext
from profiles.queries.plan import QueryPlan, choose_metric, metrics_of, plan_query
from profiles.queries.results import TopResult, TreeResult
from profiles.queries.scan import add_profiles
from profiles.queries.selection import Group, Grouping, InvalidQuery, Selection, View
from profiles.queries.split import add_split, reads_labels, split_merge
from profiles.queries.stored_results import stored_sum
from profiles.queries.tree import apply_view, merge_trees, of_samples, run_top, run_tree

MAX_FRAMES = 20_000_000  # frames of all stacks of a file: some 100 MB and some seconds
_ALL = 2**31  # nodes: a file is never folded


class ExportFormat(StrEnum):
    PPROF = "pprof"
    FOLDED = "folded"
    SPEEDSCOPE = "speedscope"
    CSV = "csv"  # the list of functions


@dataclass(frozen=True, slots=True)
class ExportFile:
    """Content of an exported file."""

    data: bytes
    left_out: int  # matching profiles that the file leaves out


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
    if form is ExportFormat.CSV:
        top = run_top(context, selection, view)
        return ExportFile(functions_csv(top), top.coverage.left_out)
    # The id of the root depends on the grouping: no node has it in a tree grouped otherwise.
    group = Group.LINE if view.root is None else view.group
    if form is ExportFormat.PPROF:
        return _pprof(context, selection, replace(view, group=group))
    result = run_tree(context, selection, replace(view, group=group, max_nodes=_ALL))
    _limit_frames(context, result.tree)
    return ExportFile(_stacks(context, result, form), result.coverage.left_out)


def functions_csv(result: TopResult) -> bytes:
    """Encode a list of functions; column headers name the unit and the number of profiles."""
    profiles = result.coverage.profiles
    of = f"{result.metric.unit}, sum of {profiles} {'profile' if profiles == 1 else 'profiles'}"
    if left_out := result.coverage.left_out:
        of += f", {left_out} left out"
    heads = ["name", "file", f"self ({of})", f"total ({of})", "count (stacks)"]
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
        metrics = metrics_of(context, selection)
        metric = choose_metric(selection, view, metrics)
        among = sorted(metrics, key=lambda each: (each == DEFAULT_METRICS[type_], each))
        plan = plan_query(context, selection, by_labels=reads_labels(view.split))
        merged, coverage = merge_metrics(context, plan, metric, among, view.group, view.split)
    tree = apply_view(context, merged, view)
    _limit_frames(context, tree)
    if view.split is not None:
        tree = with_tag_roots(tree, view.split.label)
    data = encode.encode(
        tree,
        time_ns=round(coverage.first.timestamp()) * 10**9 if coverage.first else 0,
        duration_ns=coverage.duration_ns,
        default=metric.name,
        period_type=encode.PERIOD_TYPES.get(type_),
        comments=[f"Profiles left out: {each.profiles}. {each.why}" for each in coverage.missing],
        check=context.check,
    )
    return ExportFile(data, coverage.left_out)


def merge_metrics(
    context: QueryContext,
    plan: QueryPlan,
    metric: Metric,
    among: Sequence[Metric],
    group: Group,
    split: Grouping | None = None,
) -> tuple[Tree, Coverage]:
    """Merge as `merge_trees` does, with further metrics in the same tree.

    From `among`, the tree has `metric` and each metric that exactly the same profiles have. If a
    sum passes 64 bits or the tree has too many nodes, merge `metric` alone.
    """
    if plan.selection.snapshot:
        return stored_sum(context, plan.selection, among, group, split)
    stats = ScanStats(shared={*among})
    try:
        if split is None:
            by_function = group is Group.FUNCTION and not plan.selection.samples
            type_ = plan.selection.type
            merge = Merge(among, by_function, settings.MAX_QUERY_NODES, type_, context.check)
            coverage = add_profiles(context, plan, metric, merge, stats=stats)
            tree = of_samples(context, merge.tree(), plan.selection, group)
        else:
            parted = split_merge(context, plan.selection, split, among, group)
            coverage = add_split(context, plan, metric, split, parted, stats)
            tree = parted.tree()
    except (BadProfile, TooLarge):
        # The limit may have been passed by the other metrics alone.
        return merge_trees(context, plan, metric, group, split)
    shared = [k for k, each in enumerate(among) if each == metric or each in stats.shared]
    labelled = tree.labelled
    if labelled:
        labelled = replace(labelled, values=labelled.values[shared])
    metrics = tuple(among[k] for k in shared)
    return replace(tree, metrics=metrics, self=tree.self[shared], labelled=labelled), coverage


def _limit_frames(context: QueryContext, tree: Tree) -> None:
    """Raise InvalidQuery if the stacks of the tree have too many frames for a file.

    A file repeats every stack from its root, so a deep tree has far more frames than nodes.
    """
    depth = summed_down(tree, np.ones(len(tree.parent), np.int64), context.check)
    frames = int(depth[tree.self.any(axis=0)].sum())
    if frames > MAX_FRAMES:
        raise InvalidQuery(
            f"The stacks of this file would have {frames:,} frames in total; the limit is "
            f"{MAX_FRAMES:,}. Hide some stacks, or start at a frame."
        )
    context.check()
