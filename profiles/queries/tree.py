"""Queries for the flame graph, the list of functions, a function in focus, and its lines."""

from dataclasses import replace
from typing import NamedTuple

from profiles.engine.calltree.peek import peek
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.top import FunctionCost, function_cost, lines, top
from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.queries.aggregate import merge_trees
from profiles.queries.context import Coverage, QueryContext
from profiles.queries.plan import choose_metric, metrics_of, plan_query
from profiles.queries.render import apply_filters, apply_view, focus_trees, highlighted
from profiles.queries.results import (
    FocusResult,
    FunctionRow,
    LineRow,
    LinesResult,
    TopResult,
    TreeResult,
)
from profiles.queries.selection import Group, InvalidQuery, Selection, Shape, View


def run_tree(context: QueryContext, selection: Selection, view: View) -> TreeResult:
    """Merge the matching profiles into the call tree of a view, in one metric.

    The tree has the `view.max_nodes` nodes with the greatest totals; `folded` counts the others.
    A view with a focus shows the complete stacks that reach the function.
    """
    return _tree(context, _merge(context, selection, view, view.group), selection, view)


def run_tree_and_top(
    context: QueryContext, selection: Selection, view: View
) -> tuple[TreeResult | FocusResult, TopResult]:
    """Return a view's tree by function, or its focus if it has one, and the list of functions.

    Both come from one merge. The list covers whole stacks: it ignores the view's shape and root.
    """
    merged = _merge(context, selection, view, Group.FUNCTION)
    of_list = replace(view, shape=Shape.TOP_DOWN, root=None)
    render = _tree if view.focus is None else _focus
    return render(context, merged, selection, view), _top(context, merged, selection, of_list)


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


def run_focus(context: QueryContext, selection: Selection, view: View) -> FocusResult:
    """Return the callers and callees of the view's focus, after its filters.

    Both trees are grouped by function, never by line. A view with a root returns the nodes below
    it, with those that folding removed before, in the tree that has this node.
    """
    if view.focus is None:
        raise InvalidQuery("Focus needs the full name of a function.")
    return _focus(context, _merge(context, selection, view, Group.FUNCTION), selection, view)


def run_lines(
    context: QueryContext, selection: Selection, view: View, name: str, file: str
) -> LinesResult:
    """List the costs by line of the function `name` in `file`, after the view's filters."""
    merged = _merge(context, selection, view, Group.LINE)
    tree = apply_filters(context, merged.tree, view)
    costs = lines(tree, name, file, check=context.check)
    rows = tuple(LineRow(cost.line, cost.self, cost.total) for cost in costs)
    return LinesResult(selection, merged.metric, merged.coverage, name, file, rows)


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
        plan = plan_query(context, selection)
        tree, coverage = merge_trees(context, plan, metric, group)
    return _Merged(metric, metrics, tree, coverage)


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
    tree = apply_view(context, merged.tree, replace(view, shape=Shape.TOP_DOWN))
    rows = tuple(_row(cost) for cost in top(tree, check=context.check))
    return TopResult(selection, view, merged.metric, merged.metrics, merged.coverage, rows)


def _focus(context: QueryContext, merged: _Merged, selection: Selection, view: View) -> FocusResult:
    name = view.focus or ""
    tree = apply_filters(context, merged.tree, view)
    row = function_cost(tree, name, check=context.check)
    both = focus_trees(context, tree, name, view)
    callers, callers_folded = fold(both.callers, view.max_nodes, context.check)
    callees, callees_folded = fold(both.callees, view.max_nodes, context.check)
    return FocusResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=merged.coverage,
        row=_row(row) if row else None,
        callers=callers,
        callees=callees,
        callers_folded=callers_folded,
        callees_folded=callees_folded,
        callers_highlighted=highlighted(context, callers, view),
        callees_highlighted=highlighted(context, callees, view),
        peek=peek(tree, name, check=context.check),
    )


def _row(cost: FunctionCost) -> FunctionRow:
    return FunctionRow(cost.name, cost.file, cost.self, cost.total, cost.count)
