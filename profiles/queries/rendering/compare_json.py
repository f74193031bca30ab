"""JSON format of a comparison: the columns of the tree with the self values of both sides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.encoding.preorder_columns import ordered_columns
from profiles.engine.stats.comparison import drawn, untested
from profiles.queries.rendering.tree_json import covered, dumps, selection_json
from profiles.queries.results import CompareResult
from profiles.queries.selection import Group, Order


def compare_json(result: CompareResult) -> bytes:
    """Encode a comparison as docs/reference/api.md describes.

    Siblings are in order of their mean widths, or by name.
    """
    return dumps(compare_document(result))


def compare_document(result: CompareResult) -> dict[str, Any]:
    """Return the content of `compare_json` as a dictionary with NumPy arrays."""
    view, (first, second) = result.view, result.coverages
    tree = drawn(result.tree, (first.profiles, second.profiles))
    lines = view.group is Group.LINE
    by_name = view.order is Order.NAME
    columns, order = ordered_columns(tree, by_name, lines, result.folded, result.highlighted)
    a, b = result.tree.self[:, order]
    found = result.intervals or untested(len(order))
    return {
        **selection_json(result, result.selections[0]),
        **covered(first),
        **columns,
        "self": np.ascontiguousarray(a),
        "b": {**covered(second), "self": np.ascontiguousarray(b)},
        "ci_lo": _short(found.low[order]),
        "ci_hi": _short(found.high[order]),
        "q": _short(found.q[order]),
        "why_no_intervals": result.why_no_intervals,
    }


def _short(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to five significant digits; keep NaN, which becomes null in JSON."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (np.floor(np.log10(np.abs(column))) - 4)
        rounded: NDArray[np.float64] = np.rint(column / scale) * scale
    return np.where(column == 0, 0.0, np.where(np.isnan(rounded), column, rounded))
