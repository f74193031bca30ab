"""JSON format of call trees, as docs/reference/api.md describes it."""

from typing import Any

import orjson

from profiles.engine.calltree.peek import Neighbour, Peek
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.preorder_columns import TreeColumns, to_columns
from profiles.queries.results import CompareResult, Coverage, FocusResult, FunctionRow, TreeResult
from profiles.queries.selection import Group, Order, Selection, View

VERSION = 1


def tree_json(result: TreeResult) -> bytes:
    """Encode a call tree; values are sums over the profiles, as exact integers."""
    lines = result.view.group is Group.LINE
    columns = columns_of(result.tree, result.view, lines, result.folded, result.highlighted)
    return dumps({**common(result), **columns})


def focus_json(result: FocusResult) -> bytes:
    """Encode a function's row, its direct callers and callees, and the columns of both trees.

    The row is null if no stack reaches the function.
    """
    view = result.view
    callers = columns_of(
        result.callers, view, False, result.callers_folded, result.callers_highlighted
    )
    callees = columns_of(
        result.callees, view, False, result.callees_folded, result.callees_highlighted
    )
    trees = {"callers": callers, "callees": callees}
    return dumps({**common(result), "row": _row(result.row), "peek": _peek(result.peek), **trees})


def common(result: TreeResult | FocusResult) -> dict[str, Any]:
    """Return the fields that every document has: its selection and its coverage."""
    return {**selection_json(result, result.selection), **covered(result.coverage)}


def selection_json(
    result: TreeResult | FocusResult | CompareResult, selection: Selection
) -> dict[str, Any]:
    return {
        "v": VERSION,
        "project": result.project_id,
        "service": selection.service,
        "type": selection.type.value,
        "metric": result.metric._asdict(),
        "root": None if result.view.root is None else f"{result.view.root:016x}",
    }


def _exact(total: int) -> int | orjson.Fragment:
    """Make an integer of any size writable: orjson has no integers of more than 64 bits."""
    return total if total < 2**63 else orjson.Fragment(str(total).encode())


def covered(coverage: Coverage) -> dict[str, Any]:
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


def columns_of(
    tree: Tree,
    view: View,
    lines: bool,
    folded: dict[int, tuple[int, int]],
    highlighted: tuple[int, ...],
) -> TreeColumns:
    return to_columns(
        tree,
        by_name=view.order is Order.NAME,
        lines=lines,
        folded=folded,
        highlighted=highlighted,
    )


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


def dumps(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
