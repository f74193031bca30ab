"""Queries of call trees: flame graph, list of functions, a function in focus, and its lines.

Each merges the trees of all matching profiles and applies a view to the merged tree.
"""

from dataclasses import replace

from profiles.engine.calltree.peek import peek
from profiles.engine.calltree.subtree import below, find_node, fold
from profiles.engine.calltree.top import FunctionCost, function_cost, lines, top
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import Merged
from profiles.queries.results import (
    FocusResult,
    FunctionRow,
    LineRow,
    LinesResult,
    TopResult,
    TreeResult,
)
from profiles.queries.selection import Group, InvalidQuery, Selection, Shape, View
from profiles.queries.tree_merge import MergedTree, TreeMerge
from profiles.queries.views import apply_filters, apply_view, find_highlighted, focus_trees

# More nodes than a graph of 2,000 pixels has boxes on 10 levels; they are read in 20 ms, see
# benchmarks/pages/first_pixel.py.
PREVIEW_NODES = 20_000


def run_tree(context: QueryContext, selection: Selection, view: View) -> TreeResult:
    """Merge the matching profiles into the call tree of a view, in one metric.

    The tree has the `view.max_nodes` nodes with the greatest totals; `folded` counts the others.
    A view with a focus shows the complete stacks that reach the function.
    """
    return _tree(context, TreeMerge(selection, view, view.group).run(context), selection, view)


def run_tree_and_functions(
    context: QueryContext, selection: Selection, view: View
) -> tuple[TreeResult, TopResult]:
    """Return the tree of `run_tree` and the list of functions of the whole selection.

    The list ignores the view's shape, root and focus, and so is the same for all views that have
    its filters. Both come from one merge.
    """
    merged = TreeMerge(selection, view, view.group).run(context)
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
    merged = TreeMerge(selection, view, Group.FUNCTION).run(context)
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
    return _top(context, TreeMerge(selection, view, Group.FUNCTION).run(context), selection, view)


def run_top_below(
    context: QueryContext, drawn: TreeResult, whole: TopResult, node_id: int
) -> tuple[str, TopResult] | None:
    """Return a node's function and the list of the functions below it, the node's included.

    `drawn` and `whole` are results of `run_tree_and_top`. Nothing is merged again unless folding
    removed nodes from the tree. Return None if the tree has no such node, or is bottom-up.
    """
    node = find_node(drawn.tree, node_id)
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
    return _focus(context, TreeMerge(selection, view, Group.FUNCTION).run(context), selection, view)


def run_lines(
    context: QueryContext, selection: Selection, view: View, name: str, file: str
) -> LinesResult:
    """List the costs by line of the function `name` in `file`, after the view's filters."""
    merged = TreeMerge(selection, view, Group.LINE).run(context)
    tree = apply_filters(context, merged.sum.tree, view)
    costs = lines(tree, name, file, check=context.check)
    rows = tuple(LineRow(cost.line, cost.self, cost.total) for cost in costs)
    drawn = int(tree.self.sum())
    return LinesResult(selection, merged.metric, merged.sum.coverage, name, file, rows, drawn)


def _tree(
    context: QueryContext, merged: Merged[MergedTree], selection: Selection, view: View
) -> TreeResult:
    tree = apply_view(context, merged.sum.tree, view)
    drawn, folded = fold(tree, view.max_nodes, context.check)
    return TreeResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=merged.sum.coverage,
        tree=drawn,
        folded=folded,
        highlighted=find_highlighted(context, drawn, view),
    )


def _top(
    context: QueryContext, merged: Merged[MergedTree], selection: Selection, view: View
) -> TopResult:
    # Without a root, the list is the same for a split tree: splitting it would be of no use.
    split_by = view.split if view.root is not None else None
    view_of_list = replace(view, shape=Shape.TOP_DOWN, split=split_by)
    tree = apply_view(context, merged.sum.tree, view_of_list)
    rows = tuple(function_row(cost) for cost in top(tree, check=context.check))
    selected = int(merged.sum.tree.self.sum())
    return TopResult(
        selection, view, merged.metric, merged.metrics, merged.sum.coverage, rows, selected
    )


def _focus(
    context: QueryContext, merged: Merged[MergedTree], selection: Selection, view: View
) -> FocusResult:
    name = view.focus or ""
    tree = apply_filters(context, merged.sum.tree, view)
    row = function_cost(tree, name, check=context.check)
    both = focus_trees(context, tree, name, view)
    callers, callers_folded = fold(both.callers, view.max_nodes, context.check)
    callees, callees_folded = fold(both.callees, view.max_nodes, context.check)
    return FocusResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=merged.sum.coverage,
        row=function_row(row) if row else None,
        callers=callers,
        callees=callees,
        callers_folded=callers_folded,
        callees_folded=callees_folded,
        callers_highlighted=find_highlighted(context, callers, view),
        callees_highlighted=find_highlighted(context, callees, view),
        peek=peek(tree, name, check=context.check),
    )


def function_row(cost: FunctionCost) -> FunctionRow:
    return FunctionRow(cost.name, cost.file, cost.self, cost.total, cost.count)
