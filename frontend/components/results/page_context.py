"""Template context of a page of profiles, around what the page itself shows."""

from collections.abc import Callable
from datetime import datetime

from django.urls import reverse

from frontend.components.results.empty_state import deadline_state, with_links
from frontend.page_query import DEADLINE_SECONDS, PageQuery, resolve_page_query
from frontend.params.page_params import ParsedParams
from profiles.query import DeadlinePassed, QueryContext
from projects.models import Project


def build_page_context(
    page: str,
    context: QueryContext,
    project: Project,
    reading: ParsedParams,
    now: datetime,
    build: Callable[[PageQuery], dict[str, object]],
) -> dict[str, object]:
    """Return what `build` makes of the resolved parameters, from one snapshot of the database.

    `query` is None if the project has no service. At the deadline there is an empty state instead;
    `page` is the name of the page's URL.
    """
    try:
        with context.snapshot:
            page_query = resolve_page_query(context, project, reading, now)
            return build(page_query) if page_query else {"query": None, "notices": reading.notices}
    except DeadlinePassed:
        late = deadline_state(reading.params, DEADLINE_SECONDS)
        url = reverse(page, args=[project.project_id])
        return {"notices": reading.notices, "empty": with_links(late, url)}
