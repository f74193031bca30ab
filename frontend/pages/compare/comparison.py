"""Result of a comparison, merged once for its page, its graph and its CSV file."""

from frontend.page_query import find_metric
from frontend.params.compare_params import CompareQuery
from profiles.query import (
    CompareResult,
    Coverage,
    Metric,
    QueryContext,
    Selection,
    cache_page,
    get_cached_page,
    run_compare,
)

Pair = tuple[Selection, Selection]  # the selected side and its baseline

# Per node, in addition to a tree: the baseline, the interval's ends, and q.
_COLUMNS = 4
_ROW = 8  # memory of a changed function, in array elements


def compare_sides(
    context: QueryContext, query: CompareQuery, sides: Pair, metric: Metric | None
) -> CompareResult:
    """Compare both sides and cache the result. Raise `DeadlinePassed` or `InvalidQuery`."""
    result = run_compare(context, *sides, query.selected.build_view(metric))
    numbers = (2 + _COLUMNS) * len(result.tree.parent) + _ROW * len(result.functions)
    cache_page(sides[0].project, _address(query, comparison_version_tag(result)), result, numbers)
    return result


def find_or_compare(
    context: QueryContext, query: CompareQuery, sides: Pair, seen: str
) -> CompareResult:
    """Return the page's cached result if `seen` matches it, otherwise compare again.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    cached: CompareResult | None = (
        get_cached_page(sides[0].project, _address(query, seen)) if seen else None
    )
    if cached:
        return cached
    metric = find_metric(context, sides[0], query.selected.metric)
    return compare_sides(context, query, sides, metric)


def comparison_version_tag(result: CompareResult) -> str:
    """Return a version tag of the result, which changes when either side has other profiles."""
    return "_".join(map(_seen, result.coverages))


def _seen(coverage: Coverage) -> str:
    return f"{coverage.profiles}-{coverage.last.timestamp() if coverage.last else 0}"


def _address(query: CompareQuery, seen: str) -> str:
    return f"compare?{query.side_parameters()}&{seen}"
