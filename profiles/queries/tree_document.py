"""Parts that the JSON documents of call trees share; docs/reference/api.md describes them."""

from typing import Any

import orjson

from profiles.engine.calltree.preorder_columns import TreeColumns, depths, to_columns
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.selection import Order, Selection, View

VERSION = 1
Folded = dict[int, tuple[int, int]]  # by index of a node: (number, total) of those removed below it


def dumps(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


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


def selection_fields(
    context: QueryContext, selection: Selection, view: View, metric: Metric
) -> dict[str, Any]:
    return {
        "v": VERSION,
        "project": context.project_id,
        "service": selection.service,
        "type": selection.type.value,
        "metric": metric._asdict(),
        "root": None if view.root is None else f"{view.root:016x}",
    }


def tree_columns(
    context: QueryContext,
    tree: Tree,
    view: View,
    lines: bool,
    folded: Folded,
    highlighted: tuple[int, ...],
) -> TreeColumns:
    by_name = view.order is Order.NAME
    return to_columns(tree, by_name, lines, folded, highlighted, context.check)


def count_levels(tree: Tree, folded: Folded) -> int:
    """Return the number of levels, with one below a node for what folding removed there."""
    depth = depths(tree.parent)
    below = 1 + depth[list(folded)]
    return 1 + max(int(each.max(initial=-1)) for each in (depth, below))


def _exact(total: int) -> int | orjson.Fragment:
    """Make an integer of any size writable: orjson has no integers of more than 64 bits."""
    return total if total < 2**63 else orjson.Fragment(str(total).encode())
