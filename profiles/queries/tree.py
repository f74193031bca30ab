"""Query of call trees: the merge of all matching profiles in a view, as flame graphs show it."""

from dataclasses import dataclass, field, replace
from typing import Any

from profiles.engine.calltree.subtree import below, find_node, fold
from profiles.engine.calltree.top import top
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.functions import TopResult, list_top, run_top
from profiles.queries.merge_query import Merged
from profiles.queries.result_codec import encodable
from profiles.queries.selection import Group, Selection, Shape, View
from profiles.queries.tree_document import (
    count_levels,
    coverage_fields,
    dumps,
    selection_fields,
    tree_columns,
)
from profiles.queries.tree_merge import MergedTree, TreeMerge
from profiles.queries.views import apply_view, find_highlighted

# More nodes than a graph of 2,000 pixels has boxes on 10 levels; they are read in 20 ms, see
# benchmarks/pages/first_pixel.py.
PREVIEW_NODES = 20_000


@encodable
@dataclass(frozen=True, slots=True)
class TreeResult:
    """Call tree of a view, summed over the matching profiles."""

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]  # all metrics that the view may choose
    coverage: Coverage
    tree: Tree  # one metric; sums over the profiles
    # By index of a node: (number, total) of the nodes below it that folding removed.
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order

    @property
    def levels(self) -> int:
        return count_levels(self.tree, self.folded)

    @property
    def drawn_total(self) -> int:
        """Return the total of all roots, after the view's filters."""
        return int(self.tree.self.sum()) + sum(total for _, total in self.folded.values())


def run_tree(context: QueryContext, selection: Selection, view: View) -> TreeResult:
    """Merge the matching profiles into the call tree of a view, in one metric.

    The tree has the `view.max_nodes` nodes with the greatest totals; `folded` counts the others.
    A view with a focus shows the complete stacks that reach the function.
    """
    return draw_tree(context, TreeMerge(selection, view, view.group).run(context), selection, view)


def run_tree_and_functions(
    context: QueryContext, selection: Selection, view: View
) -> tuple[TreeResult, TopResult]:
    """Return the tree of `run_tree` and the list of functions of the whole selection.

    The list ignores the view's shape, root and focus, and so is the same for all views that have
    its filters. Both come from one merge.
    """
    merged = TreeMerge(selection, view, view.group).run(context)
    return (
        draw_tree(context, merged, selection, view),
        list_top(context, merged, selection, whole_stacks(view)),
    )


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
    rows = top(below(drawn.tree, node, context.check), check=context.check)
    return name, replace(whole, rows=tuple(rows))


def preview(context: QueryContext, result: TreeResult) -> TreeResult | None:
    """Return the largest nodes of a tree, enough for a first picture of all of it.

    Return None for a tree that is not much larger, or has highlighted nodes.
    """
    if len(result.tree.parent) < 2 * PREVIEW_NODES or result.highlighted:
        return None
    tree, folded = fold(result.tree, PREVIEW_NODES, context.check, result.folded)
    return replace(result, tree=tree, folded=folded)


def tree_json(context: QueryContext, result: TreeResult) -> bytes:
    return dumps(tree_document(context, result))


def tree_document(
    context: QueryContext, result: TreeResult, *, is_preview: bool = False
) -> dict[str, Any]:
    """Return the document of a call tree; values are sums over the profiles, as exact integers.

    `split` of the view adds the frames that are values of its label. A preview says that it is one.
    """
    lines = result.view.group is Group.LINE
    columns = tree_columns(
        context, result.tree, result.view, lines, result.folded, result.highlighted
    )
    split = result.view.split
    split_fields = (
        {"split": {"by": split.parameter, "frames": columns.pop("labels", [])}} if split else {}
    )
    preview = {"preview": True} if is_preview else {}
    return {
        **selection_fields(context, result.selection, result.view, result.metric),
        **coverage_fields(result.coverage),
        **columns,
        **split_fields,
        **preview,
    }


def draw_tree(
    context: QueryContext, merged: Merged[MergedTree], selection: Selection, view: View
) -> TreeResult:
    """Apply a view to a merge as `run_tree` does."""
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


def whole_stacks(view: View, focus: str | None = None) -> View:
    return replace(view, shape=Shape.TOP_DOWN, root=None, focus=focus)
