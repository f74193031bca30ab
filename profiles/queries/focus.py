"""Query of a function in focus: its callers and callees, summed over its call sites."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from profiles.engine.calltree.peek import Neighbour, Peek, peek
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.top import FunctionRow, function_cost
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.functions import TopResult, list_top
from profiles.queries.merge_query import Merged
from profiles.queries.result_codec import encodable
from profiles.queries.selection import Group, InvalidQuery, Selection, View
from profiles.queries.tree import TreeResult, draw_tree, whole_stacks
from profiles.queries.tree_document import (
    count_levels,
    coverage_fields,
    dumps,
    selection_fields,
    tree_columns,
)
from profiles.queries.tree_merge import MergedTree, TreeMerge
from profiles.queries.views import apply_filters, find_highlighted, focus_trees


@encodable
@dataclass(frozen=True, slots=True)
class FocusResult:
    """Callers and callees of one function, summed over its call sites.

    Both trees have the function as root, with equal totals. There is a root for each file that
    has a function of this name, so rarely more than one.
    """

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    row: FunctionRow | None  # None: no selected stack reaches it
    callers: Tree  # inverted
    callees: Tree
    peek: Peek
    callers_folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # see TreeResult
    callees_folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    callers_highlighted: tuple[int, ...] = ()
    callees_highlighted: tuple[int, ...] = ()

    @property
    def levels_of_callers(self) -> int:
        return count_levels(self.callers, self.callers_folded)

    @property
    def levels_of_callees(self) -> int:
        return count_levels(self.callees, self.callees_folded)


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
    of_list = whole_stacks(view, view.focus)
    render = draw_tree if view.focus is None else _focus
    drawn, listed = (
        render(context, merged, selection, view),
        list_top(context, merged, selection, of_list),
    )
    unfocused = whole_stacks(view)
    return drawn, listed, list_top(context, merged, selection, unfocused) if view.focus else None


def focus_json(context: QueryContext, result: FocusResult) -> bytes:
    return dumps(focus_document(context, result))


def focus_document(context: QueryContext, result: FocusResult) -> dict[str, Any]:
    """Return a function's row, its direct callers and callees, and the columns of both trees.

    The row is null if no stack reaches the function.
    """
    view = result.view
    callers = tree_columns(
        context, result.callers, view, False, result.callers_folded, result.callers_highlighted
    )
    callees = tree_columns(
        context, result.callees, view, False, result.callees_folded, result.callees_highlighted
    )
    return {
        **selection_fields(context, result.selection, view, result.metric),
        **coverage_fields(result.coverage),
        "row": asdict(result.row) if result.row else None,
        "peek": _peek(result.peek),
        "callers": callers,
        "callees": callees,
    }


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
        row=row,
        callers=callers,
        callees=callees,
        callers_folded=callers_folded,
        callees_folded=callees_folded,
        callers_highlighted=find_highlighted(context, callers, view),
        callees_highlighted=find_highlighted(context, callees, view),
        peek=peek(tree, name, check=context.check),
    )


def _peek(peek: Peek) -> dict[str, dict[str, list[str] | list[int]]]:
    return {"callers": _neighbours(peek.callers), "callees": _neighbours(peek.callees)}


def _neighbours(neighbours: tuple[Neighbour, ...]) -> dict[str, list[str] | list[int]]:
    return {
        "name": [each.name for each in neighbours],
        "file": [each.file for each in neighbours],
        "total": [each.total for each in neighbours],
    }
