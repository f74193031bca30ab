"""Pages of charts over time: their resolved parameters, and the context that they share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from django.urls import reverse

from frontend.components.charts.time_steps import steps_menu
from frontend.components.results.coverage_notices import left_out
from frontend.components.results.empty_state import EmptyState, explain_no_profiles, with_links
from frontend.components.results.page_context import build_page_context
from frontend.components.results.query_errors import require_page_query
from frontend.components.selection.filter_chips import chips
from frontend.components.selection.selecting import selection_context
from frontend.page_query import PageQuery, load_options, match_metric, metric_notice
from frontend.params.page_params import PageParams, ParsedParams
from profiles.query import Coverage, Metric, OptionsResult, QueryContext
from projects.models import Project


class ChartQuery(Protocol):
    """Dataclass of a page's parameters."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def params(self) -> PageParams: ...

    @property
    def shown_step(self) -> timedelta: ...


Query = TypeVar("Query", bound=ChartQuery)


@dataclass(frozen=True, slots=True)
class ChartPage(Generic[Query]):
    """Parameters of a page of charts, resolved against the database."""

    name: str  # of the page's URL
    page_query: PageQuery
    query: Query  # with the resolved parameters
    options: OptionsResult
    metric: Metric | None  # None: the default one

    @classmethod
    def load(cls, name: str, page_query: PageQuery, query: Query) -> "ChartPage[Query]":
        query = replace(query, params=page_query.params)
        options = load_options(page_query.context, page_query.selection)
        metric = match_metric(query.params.metric, options)
        return cls(name, page_query, query, options, metric)

    def list_notices(self, coverage: Coverage | None = None) -> tuple[str, ...]:
        """Return the notices of the parameters, and those of profiles that are left out."""
        return (
            *self.page_query.notices,
            *metric_notice(self.query.params.metric, self.metric),
            *(left_out(coverage) if coverage else ()),
        )

    def empty_context(self, state: EmptyState | None = None) -> dict[str, object]:
        """Return the context of an empty state; by default of a selection without profiles."""
        shown = state or explain_no_profiles(self.page_query, self.options)
        url = reverse(self.name, args=[self.page_query.project.project_id])
        return {"empty": with_links(shown, url)}


def build_chart_page(
    name: str,
    queries: QueryContext,
    project: Project,
    query: Query,
    notices: tuple[str, ...],
    now: datetime,
    build: Callable[[ChartPage[Query]], dict[str, object]],
) -> dict[str, object]:
    """Return the template context of a page: what all share, then what `build` adds or replaces.

    `query` is None in it if the project has no service. `name` is the name of the page's URL.
    """

    def build_whole(page_query: PageQuery) -> dict[str, object]:
        page = ChartPage.load(name, page_query, query)
        return {
            "query": page.query,
            **selection_context(page_query, page.options, name),
            "steps": steps_menu(page.query.params.span, page.query.shown_step),
            "chips": chips(page.query.params.filters),
            "notices": page.list_notices(),
            **build(page),
        }

    reading = ParsedParams(query.params, notices)
    return {"query": query} | build_page_context(name, queries, project, reading, now, build_whole)


def require_chart_page(
    name: str, queries: QueryContext, project: Project, query: Query, now: datetime
) -> ChartPage[Query]:
    """Resolve the parameters of a file, without a default. Raise `BadSelectionAddress`."""
    return ChartPage.load(name, require_page_query(queries, project, query.params, now), query)
