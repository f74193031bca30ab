"""Last stage of a query: the view of a merged tree, and the JSON documents of results.

docs/reference/api.md describes the documents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from profiles.engine.calltree import filters
from profiles.engine.calltree.filters import Filters
from profiles.engine.calltree.focus import Focused, focused, reaching
from profiles.engine.calltree.invert import TooManyFrames, bottom_up
from profiles.engine.calltree.patterns import BadFilterPattern
from profiles.engine.calltree.peek import Neighbour, Peek
from profiles.engine.calltree.reshape import with_values
from profiles.engine.calltree.subtree import below, node_of
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.preorder_columns import TreeColumns, ordered_columns, to_columns
from profiles.engine.stats.comparison import drawn, untested
from profiles.queries.context import Coverage, QueryContext
from profiles.queries.results import CompareResult, FocusResult, FunctionRow, TreeResult
from profiles.queries.selection import (
    FilterOption,
    Group,
    InvalidQuery,
    Order,
    Selection,
    Shape,
    View,
)

VERSION = 1


def apply_filters(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply the view's filters to a tree, without nodes that have no value in its metric.

    Such nodes occur, for example, for memory that is no longer in use. Raise InvalidQuery for an
    invalid filter pattern.
    """
    of = Filters(
        show=_values(view, FilterOption.SHOW),
        hide=_values(view, FilterOption.HIDE),
        hide_frames=_values(view, FilterOption.HIDE_FRAMES),
        show_from=_values(view, FilterOption.FROM),
    )
    with _explain_errors():
        return filters.filtered(with_values(tree, context.check), of, context.check)


def apply_view(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply filters, then focus, shape and root: with a focus, keep the stacks that reach it.

    Raise InvalidQuery for an invalid filter pattern, if the stacks are too long to be inverted,
    or if the view has no node with the id of its root.
    """
    tree = apply_filters(context, tree, view)
    if view.focus is not None:
        tree = reaching(tree, view.focus, context.check)
    if view.shape is Shape.BOTTOM_UP:
        with _explain_errors():
            tree = bottom_up(tree, context.check)
    return _rooted(context, view, tree)[0]


def is_plain(view: View) -> bool:
    """Return True if a view's nodes and values, before its root, equal the merge by function."""
    changes = any(each.option is not FilterOption.HIGHLIGHT for each in view.filters)
    turned = view.shape is not Shape.TOP_DOWN or view.group is not Group.FUNCTION
    return not changes and not turned and view.focus is None


def focus_trees(context: QueryContext, tree: Tree, name: str, view: View) -> Focused:
    """Return a function's callers and callees in a tree returned by `apply_filters`.

    The view's root may be a node of either tree or of both; a tree without it becomes empty.
    Raise InvalidQuery if neither has it, or if the stacks are too long to be inverted.
    """
    with _explain_errors():
        both = focused(tree, name, context.check)
    return Focused(*_rooted(context, view, both.callers, both.callees))


def highlighted(context: QueryContext, tree: Tree, view: View) -> tuple[int, ...]:
    """Return the indexes of nodes that match the view's highlight filters, ascending.

    Raise InvalidQuery for an invalid filter pattern.
    """
    values = _values(view, FilterOption.HIGHLIGHT)
    if not values:
        return ()
    with _explain_errors():
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
def _explain_errors() -> Iterator[None]:
    try:
        yield
    except (BadFilterPattern, TooManyFrames) as error:
        raise InvalidQuery(str(error)) from error


def tree_json(context: QueryContext, result: TreeResult) -> bytes:
    """Encode a call tree; values are sums over the profiles, as exact integers."""
    lines = result.view.group is Group.LINE
    columns = _columns(context, result.tree, result.view, lines, result.folded, result.highlighted)
    return dumps({**_common_fields(context, result), **columns})


def focus_json(context: QueryContext, result: FocusResult) -> bytes:
    """Encode a function's row, its direct callers and callees, and the columns of both trees.

    The row is null if no stack reaches the function.
    """
    view = result.view
    callers = _columns(
        context, result.callers, view, False, result.callers_folded, result.callers_highlighted
    )
    callees = _columns(
        context, result.callees, view, False, result.callees_folded, result.callees_highlighted
    )
    return dumps(
        {
            **_common_fields(context, result),
            "row": _row(result.row),
            "peek": _peek(result.peek),
            "callers": callers,
            "callees": callees,
        }
    )


def compare_json(context: QueryContext, result: CompareResult) -> bytes:
    """Encode a comparison: the columns of the tree with the self values of both sides.

    Siblings are in order of their mean widths, or by name.
    """
    return dumps(compare_document(context, result))


def compare_document(context: QueryContext, result: CompareResult) -> dict[str, Any]:
    """Return the content of `compare_json` as a dictionary with NumPy arrays."""
    view, (first, second) = result.view, result.coverages
    columns, order = ordered_columns(
        drawn(result.tree, (first.profiles, second.profiles)),
        view.order is Order.NAME,
        view.group is Group.LINE,
        result.folded,
        result.highlighted,
        context.check,
    )
    a, b = result.tree.self[:, order]
    intervals = result.intervals or untested(len(order))
    return {
        **_selection_fields(context, result, result.selections[0]),
        **coverage_fields(first),
        **columns,
        "self": np.ascontiguousarray(a),
        "b": {**coverage_fields(second), "self": np.ascontiguousarray(b)},
        "ci_lo": _short(intervals.low[order]),
        "ci_hi": _short(intervals.high[order]),
        "q": _short(intervals.q[order]),
        "why_no_intervals": result.why_no_intervals,
    }


def coverage_fields(coverage: Coverage) -> dict[str, Any]:
    return {
        "profiles": coverage.profiles,
        "duration_s": coverage.duration_ns / max(coverage.profiles, 1) / 1e9,
        "total": _exact(coverage.total),
        "first": coverage.first,
        "last": coverage.last,
        "missing": [
            {
                "start": missing.start,
                "end": missing.end,
                "why": missing.why,
                "profiles": missing.profiles,
                "reason": missing.reason.value,
            }
            for missing in coverage.missing
        ],
    }


def dumps(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def _common_fields(context: QueryContext, result: TreeResult | FocusResult) -> dict[str, Any]:
    """Return the fields that every document has: its selection and its coverage."""
    selection = _selection_fields(context, result, result.selection)
    return {**selection, **coverage_fields(result.coverage)}


def _selection_fields(
    context: QueryContext, result: TreeResult | FocusResult | CompareResult, selection: Selection
) -> dict[str, Any]:
    return {
        "v": VERSION,
        "project": context.project_id,
        "service": selection.service,
        "type": selection.type.value,
        "metric": result.metric._asdict(),
        "root": None if result.view.root is None else f"{result.view.root:016x}",
    }


def _exact(total: int) -> int | orjson.Fragment:
    """Make an integer of any size writable: orjson has no integers of more than 64 bits."""
    return total if total < 2**63 else orjson.Fragment(str(total).encode())


def _columns(
    context: QueryContext,
    tree: Tree,
    view: View,
    lines: bool,
    folded: dict[int, tuple[int, int]],
    highlighted: tuple[int, ...],
) -> TreeColumns:
    by_name = view.order is Order.NAME
    return to_columns(tree, by_name, lines, folded, highlighted, context.check)


def _peek(peek: Peek) -> dict[str, dict[str, list[str] | list[int]]]:
    return {"callers": _neighbours(peek.callers), "callees": _neighbours(peek.callees)}


def _neighbours(of: tuple[Neighbour, ...]) -> dict[str, list[str] | list[int]]:
    return {
        "name": [each.name for each in of],
        "file": [each.file for each in of],
        "total": [each.total for each in of],
    }


def _row(row: FunctionRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "name": row.name,
        "file": row.file,
        "self": row.self,
        "total": row.total,
        "count": row.count,
    }


def _short(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to five significant digits; keep NaN, which becomes null in JSON."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (np.floor(np.log10(np.abs(column))) - 4)
        rounded: NDArray[np.float64] = np.rint(column / scale) * scale
    return np.where(column == 0, 0.0, np.where(np.isnan(rounded), column, rounded))
