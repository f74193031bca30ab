"""Queries of call trees: flame graph, list of functions, a function in focus, and its lines.

Each merges the trees of all matching profiles and applies a view to the merged tree.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from django.conf import settings

from profiles.engine.calltree import filters
from profiles.engine.calltree.filters import Filters
from profiles.engine.calltree.focus import Focused, focused, reaching
from profiles.engine.calltree.invert import TooManyFrames, bottom_up
from profiles.engine.calltree.merge import Merge
from profiles.engine.calltree.patterns import BadFilterPattern
from profiles.engine.calltree.peek import peek
from profiles.engine.calltree.reshape import with_values
from profiles.engine.calltree.samples import only_samples
from profiles.engine.calltree.subtree import below, fold, node_of
from profiles.engine.calltree.top import FunctionCost, function_cost, lines, top
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.cache import cache_sum, cached_sum
from profiles.queries.context import QueryContext
from profiles.queries.plan import QueryPlan, choose_metric, metrics_of, plan_query
from profiles.queries.results import (
    FocusResult,
    FunctionRow,
    LineRow,
    LinesResult,
    TopResult,
    TreeResult,
)
from profiles.queries.scan import Trees, add_profiles, explain_errors
from profiles.queries.selection import (
    FilterOption,
    Group,
    Grouping,
    InvalidQuery,
    Selection,
    Shape,
    View,
)
from profiles.queries.split import add_split, reads_labels, split_by_label, split_merge
from profiles.queries.stored_results import stored_sum

# More nodes than a graph of 2,000 pixels has boxes on 10 levels; they are read in 20 ms, see
# benchmarks/first_pixel.py.
PREVIEW_NODES = 20_000


def run_tree(context: QueryContext, selection: Selection, view: View) -> TreeResult:
    """Merge the matching profiles into the call tree of a view, in one metric.

    The tree has the `view.max_nodes` nodes with the greatest totals; `folded` counts the others.
    A view with a focus shows the complete stacks that reach the function.
    """
    return _tree(context, _merge(context, selection, view, view.group), selection, view)


def run_tree_and_functions(
    context: QueryContext, selection: Selection, view: View
) -> tuple[TreeResult, TopResult]:
    """Return the tree of `run_tree` and the list of functions of the whole selection.

    The list ignores the view's shape, root and focus, and so is the same for all views that have
    its filters. Both come from one merge.
    """
    merged = _merge(context, selection, view, view.group)
    return (
        _tree(context, merged, selection, view),
        _top(context, merged, selection, _whole(view, focus=None)),
    )


def run_tree_and_top(
    context: QueryContext, selection: Selection, view: View
) -> tuple[TreeResult | FocusResult, TopResult, TopResult | None]:
    """Return a view's tree by function, or its focus if it has one, and the list of functions.

    The list covers whole stacks: it ignores the view's shape and root. A view with a focus also
    has the list without it, and no split. All come from one merge.
    """
    if view.focus is not None:
        view = replace(view, split=None)
    merged = _merge(context, selection, view, Group.FUNCTION)
    of_list = _whole(view, focus=view.focus)
    render = _tree if view.focus is None else _focus
    drawn, listed = (
        render(context, merged, selection, view),
        _top(context, merged, selection, of_list),
    )
    unfocused = _whole(view, focus=None)
    return drawn, listed, _top(context, merged, selection, unfocused) if view.focus else None


def _whole(view: View, focus: str | None) -> View:
    return replace(view, shape=Shape.TOP_DOWN, root=None, focus=focus)


def preview(context: QueryContext, result: TreeResult) -> TreeResult | None:
    """Return the largest nodes of a tree, enough for a first picture of all of it.

    Return None for a tree that is not much larger, or has highlighted nodes.
    """
    if len(result.tree.parent) < 2 * PREVIEW_NODES or result.highlighted:
        return None
    tree, folded = fold(result.tree, PREVIEW_NODES, context.check, result.folded)
    return replace(result, tree=tree, folded=folded)


def run_top(context: QueryContext, selection: Selection, view: View) -> TopResult:
    """List the functions of a view's unfolded tree, by self, then total, then name.

    The list ignores the view's shape: it is made from top-down stacks. A view with a focus lists
    the stacks that reach the function. Raise InvalidQuery for a root in the bottom-up shape.
    """
    if view.shape is not Shape.TOP_DOWN and view.root is not None:
        raise InvalidQuery(
            "The function list does not support a root in the bottom-up view. Remove `root`."
        )
    return _top(context, _merge(context, selection, view, Group.FUNCTION), selection, view)


def run_top_below(
    context: QueryContext, drawn: TreeResult, whole: TopResult, node_id: int
) -> tuple[str, TopResult] | None:
    """Return a node's function and the list of the functions below it, the node's included.

    `drawn` and `whole` are results of `run_tree_and_top`. Nothing is merged again unless folding
    removed nodes from the tree. Return None if the tree has no such node, or is bottom-up.
    """
    node = node_of(drawn.tree, node_id)
    if node is None or drawn.view.shape is not Shape.TOP_DOWN:
        return None
    frames = drawn.tree.frames
    name = frames.strings[frames.name[drawn.tree.frame[node]]]
    if drawn.folded:
        return name, run_top(context, drawn.selection, replace(drawn.view, root=node_id))
    costs = top(below(drawn.tree, node, context.check), check=context.check)
    return name, replace(whole, rows=tuple(function_row(cost) for cost in costs))


def run_focus(context: QueryContext, selection: Selection, view: View) -> FocusResult:
    """Return the callers and callees of the view's focus, after its filters.

    Both trees are grouped by function, never by line. A view with a root returns the nodes below
    it, with those that folding removed before, in the tree that has this node. Raise InvalidQuery
    for a view with a split.
    """
    if view.focus is None:
        raise InvalidQuery("Focus needs the full name of a function.")
    if view.split is not None:
        raise InvalidQuery("Callers and callees of a function cannot be split. Remove `split`.")
    return _focus(context, _merge(context, selection, view, Group.FUNCTION), selection, view)


def run_lines(
    context: QueryContext, selection: Selection, view: View, name: str, file: str
) -> LinesResult:
    """List the costs by line of the function `name` in `file`, after the view's filters."""
    merged = _merge(context, selection, view, Group.LINE)
    tree = _apply_filters(context, merged.tree, view)
    costs = lines(tree, name, file, check=context.check)
    rows = tuple(LineRow(cost.line, cost.self, cost.total) for cost in costs)
    drawn = int(tree.self.sum())
    return LinesResult(selection, merged.metric, merged.coverage, name, file, rows, drawn)


class _Merged(NamedTuple):
    """Merged tree of all matching profiles in one metric, with its coverage."""

    metric: Metric
    metrics: tuple[Metric, ...]
    tree: Tree
    coverage: Coverage


def _merge(context: QueryContext, selection: Selection, view: View, group: Group) -> _Merged:
    with context.snapshot:
        metrics = metrics_of(context, selection)
        metric = choose_metric(selection, view, metrics)
        plan = plan_query(context, selection, by_labels=reads_labels(view.split))
        tree, coverage = merge_trees(context, plan, metric, group, view.split)
    return _Merged(metric, metrics, tree, coverage)


def merge_trees(
    context: QueryContext,
    plan: QueryPlan,
    metric: Metric,
    group: Group,
    split: Grouping | None = None,
) -> tuple[Tree, Coverage]:
    """Merge the call trees of all matching profiles that have the metric.

    If the selection has sample labels, the tree has the values of these samples only. With `split`,
    the tree keeps the values of that label apart in `labelled`; `apply_view` gives them roots.
    Profiles that cannot be read are left out and listed in the coverage. The result of a plan that
    is entirely in blocks is cached and shared: do not modify the tree. Raise InvalidQuery if the
    sum passes 64 bits or the tree has more than MAX_QUERY_NODES nodes.
    """
    if plan.selection.snapshot:
        return stored_sum(context, plan.selection, (metric,), group, split)
    key = (metric, group, split)
    merged: tuple[Tree, Coverage] | None = cached_sum(plan.result_key, key)
    if merged is None:
        with explain_errors():
            if split is None:
                merged = _merge_whole(context, plan, metric, group)
            else:
                merge = split_merge(context, plan.selection, split, [metric], group)
                coverage = add_split(context, plan, metric, split, merge)
                merged = merge.tree(), coverage
        tree, coverage = merged
        size = 2 * len(tree.id) + (3 * len(tree.labelled.node) if tree.labelled else 0)
        cache_sum(plan.result_key, key, merged, size, is_readable=coverage.is_readable)
    return merged


def _merge_whole(
    context: QueryContext, plan: QueryPlan, metric: Metric, group: Group
) -> tuple[Tree, Coverage]:
    # Trees by function have no sample labels.
    by_function = group is Group.FUNCTION and not plan.selection.samples
    trees, type_ = Trees.FUNCTIONS if by_function else Trees.WHOLE, plan.selection.type
    merge = Merge([metric], by_function, settings.MAX_QUERY_NODES, type_, context.check)
    coverage = add_profiles(context, plan, metric, merge, trees=trees)
    return of_samples(context, merge.tree(), plan.selection, group), coverage


def of_samples(context: QueryContext, tree: Tree, selection: Selection, group: Group) -> Tree:
    """Keep the values of the selection's samples in a tree by line, then group it.

    Return the tree itself, however it is grouped, if the selection has no sample labels.
    """
    if not selection.samples:
        return tree
    tree = only_samples(tree, selection.samples, context.check)
    if group is not Group.FUNCTION:
        return tree
    merge = Merge(tree.metrics, True, settings.MAX_QUERY_NODES, check=context.check)
    merge.add_tree(tree)
    return merge.tree()


def _tree(context: QueryContext, merged: _Merged, selection: Selection, view: View) -> TreeResult:
    tree = apply_view(context, merged.tree, view)
    drawn, folded = fold(tree, view.max_nodes, context.check)
    return TreeResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=merged.coverage,
        tree=drawn,
        folded=folded,
        highlighted=highlighted(context, drawn, view),
    )


def _top(context: QueryContext, merged: _Merged, selection: Selection, view: View) -> TopResult:
    # Without a root, the list is the same for a split tree: splitting it would be of no use.
    split_by = view.split if view.root is not None else None
    view_of_list = replace(view, shape=Shape.TOP_DOWN, split=split_by)
    tree = apply_view(context, merged.tree, view_of_list)
    rows = tuple(function_row(cost) for cost in top(tree, check=context.check))
    selected = int(merged.tree.self.sum())
    return TopResult(
        selection, view, merged.metric, merged.metrics, merged.coverage, rows, selected
    )


def _focus(context: QueryContext, merged: _Merged, selection: Selection, view: View) -> FocusResult:
    name = view.focus or ""
    tree = _apply_filters(context, merged.tree, view)
    row = function_cost(tree, name, check=context.check)
    both = _focus_trees(context, tree, name, view)
    callers, callers_folded = fold(both.callers, view.max_nodes, context.check)
    callees, callees_folded = fold(both.callees, view.max_nodes, context.check)
    return FocusResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=merged.coverage,
        row=function_row(row) if row else None,
        callers=callers,
        callees=callees,
        callers_folded=callers_folded,
        callees_folded=callees_folded,
        callers_highlighted=highlighted(context, callers, view),
        callees_highlighted=highlighted(context, callees, view),
        peek=peek(tree, name, check=context.check),
    )


def function_row(cost: FunctionCost) -> FunctionRow:
    return FunctionRow(cost.name, cost.file, cost.self, cost.total, cost.count)


def _apply_filters(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply the view's filters to a tree, without nodes that have no value in its metric.

    Such nodes occur, for example, for memory that is no longer in use. Raise InvalidQuery for an
    invalid filter pattern.
    """
    with explain_view_errors():
        return filters.filtered(with_values(tree, context.check), filters_of(view), context.check)


def filters_of(view: View) -> Filters:
    """Return the view's filters that change its tree: all but highlights."""
    return Filters(
        show=_values(view, FilterOption.SHOW),
        hide=_values(view, FilterOption.HIDE),
        hide_frames=_values(view, FilterOption.HIDE_FRAMES),
        show_from=_values(view, FilterOption.FROM),
    )


def apply_view(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply filters, focus, split, shape and root: with a focus, keep the stacks that reach it.

    Filters match functions, never values of the label that splits the tree. Raise InvalidQuery for
    an invalid filter pattern, if the stacks are too long to be inverted, or if the view has no node
    with the id of its root.
    """
    tree = _apply_filters(context, tree, view)
    if view.focus is not None:
        tree = reaching(tree, view.focus, context.check)
    if view.split is not None:
        tree = split_by_label(context, tree, view.split)
    if view.shape is Shape.BOTTOM_UP:
        with explain_view_errors():
            tree = bottom_up(tree, context.check)
    return _rooted(context, view, tree)[0]


def _focus_trees(context: QueryContext, tree: Tree, name: str, view: View) -> Focused:
    """Return a function's callers and callees in a tree returned by `_apply_filters`.

    The view's root may be a node of either tree or of both; a tree without it becomes empty.
    Raise InvalidQuery if neither has it, or if the stacks are too long to be inverted.
    """
    with explain_view_errors():
        both = focused(tree, name, context.check)
    return Focused(*_rooted(context, view, both.callers, both.callees))


def highlighted(context: QueryContext, tree: Tree, view: View) -> tuple[int, ...]:
    """Return the indexes of nodes that match the view's highlight filters, ascending.

    Raise InvalidQuery for an invalid filter pattern.
    """
    values = _values(view, FilterOption.HIGHLIGHT)
    if not values:
        return ()
    with explain_view_errors():
        return tuple(filters.highlighted(tree, values, context.check).tolist())


def _values(view: View, option: FilterOption) -> tuple[str, ...]:
    return tuple(each.value for each in view.filters if each.option is option)


def _rooted(context: QueryContext, view: View, *trees: Tree) -> tuple[Tree, ...]:
    if view.root is None:
        return trees
    nodes = [node_of(tree, view.root) for tree in trees]
    if all(node is None for node in nodes):
        raise InvalidQuery(
            f"No node {view.root:016x} in this view of the selected profiles. Remove `root`."
        )
    return tuple(below(tree, node, context.check) for tree, node in zip(trees, nodes, strict=True))


@contextmanager
def explain_view_errors() -> Iterator[None]:
    """Turn errors of filters and shapes into InvalidQuery."""
    try:
        yield
    except (BadFilterPattern, TooManyFrames) as error:
        raise InvalidQuery(str(error)) from error
