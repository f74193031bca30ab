"""Cached call tree and function list of a flame page URL, merged once."""

from urllib.parse import urlencode

from frontend.queries.page_cache import CachedPage, cached_pages
from frontend.queries.page_query import find_metric, seen_of
from frontend.queries.params import PageParams
from profiles.query import Metric, QueryContext, Selection, run_tree_and_top


def address_of(params: PageParams, seen: str) -> str:
    """Return the parameters that the requests for the graph and for the list share with the page.

    `seen` changes when there are new profiles, so that the browser requests both again.
    """
    return f"{params.of_the_data().parameters()}&{urlencode({'seen': seen})}"


def found_or_merged(
    context: QueryContext, params: PageParams, selection: Selection, seen: str
) -> CachedPage:
    """Return the cached page if `seen` matches it, otherwise merge again.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    found = cached_pages.find(selection.project, address_of(params, seen)) if seen else None
    if found:
        return found
    metric = find_metric(context, selection, params.metric)
    return merged(context, params, selection, metric, seen)


def merged(
    context: QueryContext,
    params: PageParams,
    selection: Selection,
    metric: Metric | None,
    seen: str = "",
) -> CachedPage:
    """Merge and cache under `seen`; "" caches under the version tag of the result.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    results = CachedPage(*run_tree_and_top(context, selection, params.shown(metric)))
    address = address_of(params, seen or seen_of(results.top.coverage))
    cached_pages.keep(selection.project, address, results, results.nodes)
    return results
