"""The tree and the list behind one address of the flame page, merged once."""

import time
from urllib.parse import urlencode

from frontend.queries.page_cache import CachedPage, kept_answers
from frontend.queries.page_query import DEADLINE_SECONDS, metric_named, options_of, seen_of
from frontend.queries.params import PageParams
from profiles.query import Metric, Selection, run_tree_and_top


def address_of(asked: PageParams, seen: str) -> str:
    """What the requests of the graph and of the list have in common with the page's.

    `seen` is there so that they are made again when there is something new.
    """
    return f"{asked.of_the_data().parameters()}&{urlencode({'seen': seen})}"


def found_or_merged(asked: PageParams, selection: Selection, seen: str) -> CachedPage:
    """Raises DeadlinePassed and Unanswerable."""
    found = kept_answers.find(selection.project, address_of(asked, seen)) if seen else None
    if found:
        return found
    metric = metric_named(asked.metric, options_of(selection)) if asked.metric else None
    return merged(asked, selection, metric, time.monotonic() + DEADLINE_SECONDS, seen)


def merged(
    asked: PageParams, selection: Selection, metric: Metric | None, deadline: float, seen: str = ""
) -> CachedPage:
    """Raises DeadlinePassed and Unanswerable. Kept as `seen`; "": as what there is now."""
    answers = CachedPage(*run_tree_and_top(selection, asked.shown(metric), deadline))
    address = address_of(asked, seen or seen_of(answers.top.coverage))
    kept_answers.keep(selection.project, address, answers, answers.nodes)
    return answers
