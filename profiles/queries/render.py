"""Last stage of a query: the JSON documents of results, which docs/reference/api.md describes."""

from dataclasses import asdict
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from profiles.engine.calltree.peek import Neighbour, Peek
from profiles.engine.calltree.preorder_columns import TreeColumns, to_columns, to_ordered_columns
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.stats.comparison import build_drawn, build_untested
from profiles.queries.context import QueryContext
from profiles.queries.results import CompareResult, FocusResult, FunctionRow, TreeResult
from profiles.queries.selection import Group, Order, Selection, View

VERSION = 1


def tree_json(context: QueryContext, result: TreeResult) -> bytes:
    return dumps(tree_document(context, result))


def tree_document(
    context: QueryContext, result: TreeResult, *, is_preview: bool = False
) -> dict[str, Any]:
    """Return the document of a call tree; values are sums over the profiles, as exact integers.

    `split` of the view adds the frames that are values of its label. A preview says that it is one.
    """
    lines = result.view.group is Group.LINE
    columns = _columns(context, result.tree, result.view, lines, result.folded, result.highlighted)
    split = result.view.split
    split_fields = (
        {"split": {"by": split.parameter, "frames": columns.pop("labels", [])}} if split else {}
    )
    preview = {"preview": True} if is_preview else {}
    return {**_common_fields(context, result), **columns, **split_fields, **preview}


def focus_json(context: QueryContext, result: FocusResult) -> bytes:
    return dumps(focus_document(context, result))


def focus_document(context: QueryContext, result: FocusResult) -> dict[str, Any]:
    """Return a function's row, its direct callers and callees, and the columns of both trees.

    The row is null if no stack reaches the function.
    """
    view = result.view
    callers = _columns(
        context, result.callers, view, False, result.callers_folded, result.callers_highlighted
    )
    callees = _columns(
        context, result.callees, view, False, result.callees_folded, result.callees_highlighted
    )
    return {
        **_common_fields(context, result),
        "row": _row(result.row),
        "peek": _peek(result.peek),
        "callers": callers,
        "callees": callees,
    }


def compare_json(context: QueryContext, result: CompareResult) -> bytes:
    """Encode a comparison: the columns of the tree with the self values of both sides.

    Siblings are in order of their mean widths, or by name.
    """
    return dumps(compare_document(context, result))


def compare_document(context: QueryContext, result: CompareResult) -> dict[str, Any]:
    """Return the content of `compare_json` as a dictionary with NumPy arrays."""
    view, (first, second) = result.view, result.coverages
    columns, order = to_ordered_columns(
        build_drawn(result.tree, (first.profiles, second.profiles)),
        view.order is Order.NAME,
        view.group is Group.LINE,
        result.folded,
        result.highlighted,
        context.check,
    )
    a, b = result.tree.self[:, order]
    intervals = result.intervals or build_untested(len(order))
    return {
        **_selection_fields(context, result, result.selections[0]),
        **coverage_fields(first),
        **columns,
        "self": np.ascontiguousarray(a),
        "b": {**coverage_fields(second), "self": np.ascontiguousarray(b)},
        "ci_lo": _short(intervals.low[order]),
        "ci_hi": _short(intervals.high[order]),
        "q": _short(intervals.q[order]),
        "why_no_intervals": str(result.untested or ""),
        "whole": asdict(result.whole),
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
                "why": missing.explanation,
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
    context: QueryContext,
    result: TreeResult | FocusResult | CompareResult,
    selection: Selection,
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


def _neighbours(neighbours: tuple[Neighbour, ...]) -> dict[str, list[str] | list[int]]:
    return {
        "name": [each.name for each in neighbours],
        "file": [each.file for each in neighbours],
        "total": [each.total for each in neighbours],
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
