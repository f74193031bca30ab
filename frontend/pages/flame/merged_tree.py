"""Cached call tree and function list of a flame page URL, merged once."""

import time
from urllib.parse import urlencode

from frontend.queries.page_cache import CachedPage, cached_pages
from frontend.queries.page_query import DEADLINE_SECONDS, metric_named, options_of, seen_of
from frontend.queries.params import PageParams
from profiles.query import Metric, Selection, run_tree_and_top


def address_of(asked: PageParams, seen: str) -> str:
    """Return the parameters that the requests for the graph and for the list share with the page.

    `seen` changes when there are new profiles, so that the browser requests both again.
    """
    return f"{asked.of_the_data().parameters()}&{urlencode({'seen': seen})}"


def found_or_merged(asked: PageParams, selection: Selection, seen: str) -> CachedPage:
    """Return the cached page if `seen` matches it, otherwise merge again.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    found = cached_pages.find(selection.project, address_of(asked, seen)) if seen else None
    if found:
        return found
    metric = metric_named(asked.metric, options_of(selection)) if asked.metric else None
    return merged(asked, selection, metric, time.monotonic() + DEADLINE_SECONDS, seen)


def merged(
    asked: PageParams, selection: Selection, metric: Metric | None, deadline: float, seen: str = ""
) -> CachedPage:
    """Merge and cache under `seen`; "" caches under the version tag of the result.

    Raise `DeadlinePassed` or `InvalidQuery`.
    """
    answers = CachedPage(*run_tree_and_top(selection, asked.shown(metric), deadline))
    address = address_of(asked, seen or seen_of(answers.top.coverage))
    cached_pages.keep(selection.project, address, answers, answers.nodes)
    return answers
