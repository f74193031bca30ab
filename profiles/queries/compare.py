"""Comparison of two selections, node by node, with tests of significance."""

from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.preorder_columns import to_ordered_columns
from profiles.engine.calltree.subtree import find_node
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.stats import comparison as engine
from profiles.engine.stats.comparison import (
    ComparedTrees,
    FunctionPairs,
    build_drawn,
    build_untested,
)
from profiles.engine.stats.significance import REAL
from profiles.queries.compare_sides import Untested, compare_sides
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import list_metrics
from profiles.queries.plan import choose_metric
from profiles.queries.result_codec import encodable, encodable_row
from profiles.queries.selection import (
    Group,
    InvalidQuery,
    Order,
    Selection,
    Shape,
    View,
)
from profiles.queries.tree_document import coverage_fields, selection_fields
from profiles.queries.views import find_highlighted


@encodable
@dataclass(frozen=True, slots=True)
class Intervals:
    """Confidence intervals of differences of per-profile mean totals; each array is [N].

    NaN where nothing was tested: a side has too few profiles, or too few profiles have the node.
    """

    low: NDArray[np.float64]  # 95 %
    high: NDArray[np.float64]
    q: NDArray[np.float64]  # false discovery rate over all tested nodes


@encodable_row
class FunctionChange(NamedTuple):
    """Function on both sides, with sums over the profiles and an interval as in Intervals.

    `a` is the selected side, `b` the baseline; the names are those of the query API.
    """

    name: str
    file: str
    a_self: int
    a_total: int
    b_self: int
    b_total: int
    low: float | None  # bound of the difference of mean totals; None: not tested
    high: float | None
    q: float | None
    real: bool  # significant: q is at most profiles.engine.stats.significance.REAL
    p: float | None = None  # two-sided, of the totals by themselves
    self_low: float | None = None  # the same of self
    self_high: float | None = None
    self_p: float | None = None
    self_q: float | None = None


@encodable
@dataclass(frozen=True, slots=True)
class TotalChange:
    """Totals of all nodes of both sides, with an interval and names as in FunctionChange."""

    a_total: int
    b_total: int
    low: float | None
    high: float | None
    q: float | None
    real: bool
    p: float | None = None


@encodable
@dataclass(frozen=True, slots=True)
class CompareResult:
    """Comparison of two selections of one project, service and type.

    Pairs are the selected side and its baseline; difference = selected - baseline.
    """

    selections: tuple[Selection, Selection]
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverages: tuple[Coverage, Coverage]
    tree: Tree  # every node of either side; `self` is [2, N]: sums of the sides
    intervals: Intervals | None  # by node of the tree
    untested: Untested | None  # None if there are intervals
    whole: TotalChange  # of all nodes, before folding
    functions: tuple[FunctionChange, ...]  # the largest absolute difference of means first
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # see TreeResult; both sides
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order


def run_compare(context: QueryContext, a: Selection, b: Selection, view: View) -> CompareResult:
    """Compare a selection `a` with its baseline `b`; differences are a - b of per-profile means.

    The tests cover all nodes and functions of the filtered tree: the view's root and folding
    restrict what is returned, not what is tested. Raise InvalidQuery also if the two selections
    differ in project, service or type.
    """
    if (a.project, a.service, a.type) != (b.project, b.service, b.type):
        raise InvalidQuery("Both sides of a comparison must have the same service and type.")
    with context.snapshot:
        metrics = _common(a, list_metrics(context, a), list_metrics(context, b))
        metric = choose_metric(a, view, metrics)
        compared, coverages, untested = compare_sides(context, (a, b), metric, view)
    if view.root is not None:
        compared = _below(context, compared, view.root, view.shape)
    profiles = coverages[0].profiles, coverages[1].profiles
    drawn, folded = engine.fold(compared, profiles, view.max_nodes, context.check)
    return CompareResult(
        selections=(a, b),
        view=view,
        metric=metric,
        metrics=metrics,
        coverages=coverages,
        tree=drawn.tree,
        intervals=None if untested else Intervals(drawn.nodes.low, drawn.nodes.high, drawn.nodes.q),
        untested=untested,
        whole=_whole(compared),
        functions=list_changes(compared.functions, profiles),
        folded=folded,
        highlighted=find_highlighted(context, drawn.tree, view),
    )


def compare_document(context: QueryContext, result: CompareResult) -> dict[str, Any]:
    """Return the columns of the tree, NumPy arrays, with the self values of both sides.

    Siblings are in order of their mean widths, or by name. `dumps` encodes them.
    """
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
        **selection_fields(context, result.selections[0], view, result.metric),
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


def _common(a: Selection, of_a: tuple[Metric, ...], of_b: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metrics that both sides have.

    Without a common metric, return those of the selected side `a`, or of its baseline `b` if the
    selected side has only the type's default metric, as a side without profiles does.
    """
    both = tuple(metric for metric in of_a if metric in of_b)
    nothing = (DEFAULT_METRICS[a.type.value],)  # of a side without profiles
    return both or (of_b if of_a == nothing else of_a)


def _below(
    context: QueryContext, compared: ComparedTrees, root: int, shape: Shape
) -> ComparedTrees:
    node = find_node(compared.tree, root)
    if node is None:
        raise InvalidQuery(
            f"No node {root:016x} in this view of the selected profiles. Remove `root`."
        )
    cut = engine.below(compared, node, context.check)
    return cut if shape is Shape.TOP_DOWN else replace(cut, functions=compared.functions)


def _whole(compared: ComparedTrees) -> TotalChange:
    a_total, b_total = compared.tree.self.sum(axis=1).tolist()
    tested = compared.whole
    low, high, q, p = (
        None if np.isnan(column[0]) else float(column[0])
        for column in (tested.low, tested.high, tested.q, tested.p)
    )
    return TotalChange(a_total, b_total, low, high, q, real=q is not None and q <= REAL, p=p)


def list_changes(pairs: FunctionPairs, profiles: tuple[int, int]) -> tuple[FunctionChange, ...]:
    """Return the functions with a value on either side, the largest absolute difference first.

    Equal differences of means are in order of name, then file. The rows are made from whole
    columns, because there may be tens of thousands of functions.
    """
    a, b = (max(n, 1) for n in profiles)
    sums = np.stack([pairs.self[0], pairs.total[0], pairs.self[1], pairs.total[1]])
    some = np.flatnonzero(sums.any(axis=0))
    tested, own = pairs.tested, pairs.tested_self
    is_tested = ~np.isnan(tested.q)
    is_own_tested = ~np.isnan(own.p)
    rows = map(
        FunctionChange,
        pairs.names,
        pairs.files,
        *sums.tolist(),
        *(_or_none(column, is_tested) for column in (tested.low, tested.high, tested.q)),
        (is_tested & (tested.q <= REAL)).tolist(),
        _or_none(tested.p, is_tested),
        *(_or_none(column, is_own_tested) for column in (own.low, own.high, own.p, own.q)),
    )
    smallest = (-np.abs(sums[1] / a - sums[3] / b)).tolist()
    keyed = [*zip(smallest, pairs.names, pairs.files, count(), rows, strict=False)]
    return tuple(row for *_, row in sorted(keyed[i] for i in some.tolist()))


def _or_none(column: NDArray[np.float64], tested: NDArray[np.bool_]) -> list[float | None]:
    values = column.astype(object)
    values[~tested] = None
    rows: list[float | None] = values.tolist()
    return rows


def _short(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to five significant digits; keep NaN, which becomes null in JSON."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (np.floor(np.log10(np.abs(column))) - 4)
        rounded: NDArray[np.float64] = np.rint(column / scale) * scale
    return np.where(column == 0, 0.0, np.where(np.isnan(rounded), column, rounded))
