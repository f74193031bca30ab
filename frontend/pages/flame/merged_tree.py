"""Call tree and function list of a flame page URL, merged once for all of its requests."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from frontend.components.functions.package_colours import PackageColours
from frontend.page_query import find_metric, version_tag
from frontend.params.page_params import PageParams
from profiles.query import (
    FocusResult,
    Metric,
    QueryContext,
    Selection,
    TopResult,
    TreeResult,
    cache_page,
    get_cached_page,
    run_tree_and_top,
)

_ROW = 4  # memory of a list row, in nodes


@dataclass(slots=True)
class MergedPage:
    drawn: TreeResult | FocusResult
    top: TopResult
    unfocused: TopResult | None  # list of all stacks; None without a focus, where `top` has them
    _colours: PackageColours | None = None

    @property
    def whole(self) -> TopResult:
        """Return the list of functions that all views of the selection share."""
        return self.unfocused or self.top

    def get_colours(self, check: Callable[[], None]) -> PackageColours:
        """Return the colours of the packages, which are determined once; `check` may raise."""
        if self._colours is None:
            self._colours = PackageColours(self.whole.rows_for_packages, check)
        return self._colours

    @property
    def nodes(self) -> int:
        """Return the memory that the results take, in nodes of a call tree."""
        drawn = self.drawn
        trees = (drawn.callers, drawn.callees) if isinstance(drawn, FocusResult) else (drawn.tree,)
        return sum(len(tree.parent) for tree in trees) + _ROW * (
            len(self.top.rows) + len(self.unfocused.rows if self.unfocused else ())
        )


def data_address(params: PageParams, seen: str) -> str:
    """Return the parameters that the requests for the graph and for the list share with the page.

    `seen` changes when there are new profiles, so that the browser requests both again.
    """
    return f"{params.data_params().parameters()}&{urlencode({'seen': seen})}"


def find_or_merge(
    context: QueryContext, params: PageParams, selection: Selection, seen: str
) -> MergedPage:
    """Return the cached page if `seen` matches it, otherwise merge again.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    cached: MergedPage | None = (
        get_cached_page(selection.project, data_address(params, seen)) if seen else None
    )
    if cached:
        return cached
    metric = find_metric(context, selection, params.metric)
    return merge_page(context, params, selection, metric, seen)


def merge_page(
    context: QueryContext,
    params: PageParams,
    selection: Selection,
    metric: Metric | None,
    seen: str = "",
) -> MergedPage:
    """Merge and cache under `seen`; "" caches under the version tag of the result.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    page = MergedPage(*run_tree_and_top(context, selection, params.build_view(metric)))
    cache_merged(params, selection, seen or version_tag(page.top.coverage), page)
    return page


def cache_merged(params: PageParams, selection: Selection, seen: str, page: MergedPage) -> None:
    """Cache a page for the requests that have its parameters and `seen`."""
    cache_page(selection.project, data_address(params, seen), page, 2 * page.nodes)
