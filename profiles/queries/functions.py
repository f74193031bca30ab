"""Queries of the functions of call trees: their list, and the lines of one of them."""

from dataclasses import dataclass, replace

from profiles.engine.calltree.top import FunctionRow, lines, top
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import Merged
from profiles.queries.result_codec import encodable, encodable_row
from profiles.queries.selection import Group, InvalidQuery, Selection, Shape, View
from profiles.queries.tree_merge import MergedTree, TreeMerge
from profiles.queries.views import apply_filters, apply_view

_LARGE = 200  # a function's total is large from this part of all values: half a percent


encodable_row(FunctionRow)


@encodable
@dataclass(frozen=True, slots=True)
class TopResult:
    """List of the functions of a view."""

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    rows: tuple[FunctionRow, ...]  # by self, then total, then name
    # Σ before the view's filters; less than the coverage's if the selection has sample labels
    selected_total: int

    @property
    def rows_for_packages(self) -> list[FunctionRow]:
        """Return the rows with a self value or a large total, which decide colours of packages."""
        large = max(1, sum(row.self for row in self.rows) // _LARGE)
        return [row for row in self.rows if row.self or row.total >= large]


@dataclass(frozen=True, slots=True)
class LineRow:
    """Source line of a function, with sums over the matching profiles."""

    line: int  # 0 where unknown
    self: int
    total: int  # recursion counted once


@dataclass(frozen=True, slots=True)
class LinesResult:
    """Costs of the lines of one function, in order of line number."""

    selection: Selection
    metric: Metric
    coverage: Coverage
    name: str
    file: str
    rows: tuple[LineRow, ...]
    drawn_total: int  # Σ of all functions, after the view's filters


def run_top(context: QueryContext, selection: Selection, view: View) -> TopResult:
    """List the functions of a view's unfolded tree, by self, then total, then name.

    The list ignores the view's shape: it is made from top-down stacks. A view with a focus lists
    the stacks that reach the function. Raise InvalidQuery for a root in the bottom-up shape.
    """
    if view.shape is not Shape.TOP_DOWN and view.root is not None:
        raise InvalidQuery(
            "The function list does not support a root in the bottom-up view. Remove `root`."
        )
    return list_top(
        context, TreeMerge(selection, view, Group.FUNCTION).run(context), selection, view
    )


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


def list_top(
    context: QueryContext, merged: Merged[MergedTree], selection: Selection, view: View
) -> TopResult:
    """List the functions of a merge as `run_top` does."""
    # Without a root, the list is the same for a split tree: splitting it would be of no use.
    split_by = view.split if view.root is not None else None
    view_of_list = replace(view, shape=Shape.TOP_DOWN, split=split_by)
    tree = apply_view(context, merged.sum.tree, view_of_list)
    rows = tuple(top(tree, check=context.check))
    selected = int(merged.sum.tree.self.sum())
    return TopResult(
        selection, view, merged.metric, merged.metrics, merged.sum.coverage, rows, selected
    )
