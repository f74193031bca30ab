"""Call tree and function list of a flame page URL, merged once for all of its requests."""

from typing import NamedTuple
from urllib.parse import urlencode

from frontend.page_query import find_metric, seen_of
from frontend.params.page_params import PageParams
from profiles.query import (
    FocusResult,
    Metric,
    QueryContext,
    Selection,
    TopResult,
    TreeResult,
    cache_page,
    cached_page,
    run_tree_and_top,
)

_ROW = 4  # memory of a list row, in nodes


class MergedPage(NamedTuple):
    drawn: TreeResult | FocusResult
    top: TopResult
    unfocused: TopResult | None  # list of all stacks; None without a focus, where `top` has them

    @property
    def whole(self) -> TopResult:
        """Return the list of functions that all views of the selection share."""
        return self.unfocused or self.top

    @property
    def nodes(self) -> int:
        """Return the memory that the results take, in nodes of a call tree."""
        of = self.drawn
        trees = (of.callers, of.callees) if isinstance(of, FocusResult) else (of.tree,)
        return sum(len(tree.parent) for tree in trees) + _ROW * (
            len(self.top.rows) + len(self.unfocused.rows if self.unfocused else ())
        )


def address_of(params: PageParams, seen: str) -> str:
    """Return the parameters that the requests for the graph and for the list share with the page.

    `seen` changes when there are new profiles, so that the browser requests both again.
    """
    return f"{params.of_the_data().parameters()}&{urlencode({'seen': seen})}"


def found_or_merged(
    context: QueryContext, params: PageParams, selection: Selection, seen: str
) -> MergedPage:
    """Return the cached page if `seen` matches it, otherwise merge again.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    cached = cached_page(selection.project, address_of(params, seen)) if seen else None
    if cached:
        return MergedPage(*cached)
    metric = find_metric(context, selection, params.metric)
    return merged(context, params, selection, metric, seen)


def merged(
    context: QueryContext,
    params: PageParams,
    selection: Selection,
    metric: Metric | None,
    seen: str = "",
) -> MergedPage:
    """Merge and cache under `seen`; "" caches under the version tag of the result.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    page = MergedPage(*run_tree_and_top(context, selection, params.shown(metric)))
    cache_merged(params, selection, seen or seen_of(page.top.coverage), page)
    return page


def cache_merged(params: PageParams, selection: Selection, seen: str, page: MergedPage) -> None:
    """Cache a page for the requests that have its parameters and `seen`."""
    cache_page(selection.project, address_of(params, seen), tuple(page), 2 * page.nodes)
