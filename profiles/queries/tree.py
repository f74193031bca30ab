"""Queries for the flame graph, the list of functions, a function in focus, and its lines."""

from dataclasses import replace
from typing import NamedTuple

from profiles.engine.calltree.peek import peek
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.top import FunctionCost, function_cost, top
from profiles.engine.calltree.top import lines as lines_of
from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.queries.aggregate import merge_selection
from profiles.queries.planning.metric_choice import chosen, metrics_of
from profiles.queries.planning.project_ids import project_id_of
from profiles.queries.rendering.view import around, filtered, highlighted, shown
from profiles.queries.results import (
    Coverage,
    FocusResult,
    FunctionRow,
    LineRow,
    LinesResult,
    TopResult,
    TreeResult,
)
from profiles.queries.selection import Group, InvalidQuery, Selection, Shape, View, watched
from profiles.storage.snapshot import snapshot


@watched
def run_tree(selection: Selection, view: View, deadline: float | None = None) -> TreeResult:
    """Merge the matching profiles into the call tree of a view, in one metric.

    The tree has the `view.max_nodes` nodes with the greatest totals; `folded` counts the others.
    A view with a focus shows the complete stacks that reach the function.
    """
    return _tree(_all(selection, view, view.group, deadline), selection, view)


@watched
def run_tree_and_top(
    selection: Selection, view: View, deadline: float | None = None
) -> tuple[TreeResult | FocusResult, TopResult]:
    """Return a view's tree by function, or its focus if it has one, and the list of functions.

    Both come from one merge. The list covers whole stacks: it ignores the view's shape and root.
    """
    of = _all(selection, view, Group.FUNCTION, deadline)
    listed = replace(view, shape=Shape.TOP_DOWN, root=None)
    drawn = _tree(of, selection, view) if view.focus is None else _focus(of, selection, view)
    return drawn, _top(of, selection, listed)


@watched
def run_top(selection: Selection, view: View, deadline: float | None = None) -> TopResult:
    """List the functions of a view's unfolded tree, by self, then total, then name.

    The list ignores the view's shape: it is made from top-down stacks. A view with a focus lists
    the stacks that reach the function. Raise InvalidQuery for a root in the bottom-up shape.
    """
    if view.shape is not Shape.TOP_DOWN and view.root is not None:
        raise InvalidQuery("A list is of whole stacks, so it has no root in the bottom-up view.")
    return _top(_all(selection, view, Group.FUNCTION, deadline), selection, view)


@watched
def run_focus(selection: Selection, view: View, deadline: float | None = None) -> FocusResult:
    """Return the callers and callees of the view's focus, after its filters.

    Both trees are grouped by function, never by line. A view with a root returns the nodes below
    it, with those that folding removed before, in the tree that has this node.
    """
    if view.focus is None:
        raise InvalidQuery("A focus needs the name of a function.")
    return _focus(_all(selection, view, Group.FUNCTION, deadline), selection, view)


@watched
def run_lines(
    selection: Selection, view: View, name: str, file: str, deadline: float | None = None
) -> LinesResult:
    """List the costs by line of the function `name` in `file`, after the view's filters."""
    of = _all(selection, view, Group.LINE, deadline)
    rows = tuple(
        LineRow(cost.line, cost.self, cost.total)
        for cost in lines_of(filtered(of.tree, view), name, file)
    )
    return LinesResult(selection, of.metric, of.coverage, name, file, rows)


class _All(NamedTuple):
    """Merged tree of all matching profiles in one metric, with its coverage."""

    metric: Metric
    metrics: tuple[Metric, ...]
    tree: Tree
    coverage: Coverage


def _all(selection: Selection, view: View, group: Group, deadline: float | None) -> _All:
    with snapshot():
        metrics = metrics_of(selection)
        metric = chosen(selection, view, metrics)
        tree, coverage = merge_selection(selection, metric, group, deadline)
    return _All(metric, metrics, tree, coverage)


def _tree(of: _All, selection: Selection, view: View) -> TreeResult:
    drawn, folded = fold(shown(of.tree, view), view.max_nodes)
    return TreeResult(
        selection=selection,
        project_id=project_id_of(selection),
        view=view,
        metric=of.metric,
        metrics=of.metrics,
        coverage=of.coverage,
        tree=drawn,
        folded=folded,
        highlighted=highlighted(drawn, view),
    )


def _top(of: _All, selection: Selection, view: View) -> TopResult:
    rows = tuple(_row(cost) for cost in top(shown(of.tree, _as_called(view))))
    return TopResult(selection, view, of.metric, of.metrics, of.coverage, rows)


def _focus(of: _All, selection: Selection, view: View) -> FocusResult:
    name = view.focus or ""
    tree = filtered(of.tree, view)
    row = function_cost(tree, name)
    both = around(tree, name, view)
    callers, callers_folded = fold(both.callers, view.max_nodes)
    callees, callees_folded = fold(both.callees, view.max_nodes)
    return FocusResult(
        selection=selection,
        project_id=project_id_of(selection),
        view=view,
        metric=of.metric,
        metrics=of.metrics,
        coverage=of.coverage,
        row=_row(row) if row else None,
        callers=callers,
        callees=callees,
        callers_folded=callers_folded,
        callees_folded=callees_folded,
        callers_highlighted=highlighted(callers, view),
        callees_highlighted=highlighted(callees, view),
        peek=peek(tree, name),
    )


def _as_called(view: View) -> View:
    return replace(view, shape=Shape.TOP_DOWN)


def _row(cost: FunctionCost) -> FunctionRow:
    return FunctionRow(cost.name, cost.file, cost.self, cost.total, cost.count)
