"""Template context that the pages of charts over time have in common."""

from datetime import timedelta
from typing import Protocol

from frontend.components.charts.time_steps import steps_menu
from frontend.components.selection.filter_chips import chips
from frontend.components.selection.selecting import selection_context
from frontend.page_query import PageQuery
from frontend.params.page_params import PageParams
from profiles.query import OptionsResult


class ChartQuery(Protocol):
    @property
    def params(self) -> PageParams: ...

    @property
    def shown_step(self) -> timedelta: ...


def chart_page_context(
    page_query: PageQuery, query: ChartQuery, options: OptionsResult, page: str
) -> dict[str, object]:
    """Return the query, the fields of its selection, the menu of its steps and its filters."""
    return {
        "query": query,
        **selection_context(page_query, options, page),
        "steps": steps_menu(query.params.span, query.shown_step),
        "chips": chips(query.params.filters),
    }
