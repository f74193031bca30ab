"""`/p/<project>/profiles`: single profiles, with a heat map of their weight over time."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.components.results.downloads import csv_file
from frontend.components.results.query_errors import require_selection, text_errors
from frontend.http.fragments import wants_fragment
from frontend.page_query import query_context
from frontend.pages.profiles import view_model as profile_page
from frontend.pages.profiles.params import ProfileQuery, read
from frontend.pages.profiles.profile_list import columns, table
from frontend.params.form_address import redirect_form
from profiles.query import ProfileSelection, QueryContext, run_profiles
from projects.access import project_for

CSV_ROWS = 10_000
_CSV_PAGE = 1000
_LATE = _("Listing these profiles takes more than %(n)d s. Try a shorter time range.")


@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
@text_errors(_LATE)
def profiles(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the page, or only the list for htmx."""
    project = project_for(request.user, project_id)
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    query, notices = read(LenientReader.from_query(request.GET), now)
    queries = query_context(request, project)
    if wants_fragment(request):
        shown = profile_page.build_list_context(queries, project, query, now)
        if shown:
            return _fragment(request, shown)
    context = {
        "project": project,
        "here": "profiles",
        **profile_page.context(queries, project, query, notices, now),
    }
    return render(request, "frontend/profiles/page.html", context)


def _fragment(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    response = render(request, "frontend/profiles/list.html", context)
    response.headers["HX-Push-Url"] = request.get_full_path()
    return response


@require_safe
@text_errors(_LATE)
def profiles_csv(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the first CSV_ROWS rows of the list as CSV; a URL without service or type gets 400."""
    project = project_for(request.user, project_id)
    now = timezone.now()
    query, _notices = read(LenientReader.from_query(request.GET), now)
    whole = require_selection(query.params, project, now)
    selection = query.selection(project.pk, whole.service, whole.type, now)
    rows = _rows(query_context(request, project), selection, query)
    return csv_file("profiles.csv", columns(selection), rows)


def _rows(
    context: QueryContext, selection: ProfileSelection, query: ProfileQuery
) -> list[list[str | int | float]]:
    rows: list[list[str | int | float]] = []
    page: str | None = ""
    while page is not None and len(rows) < CSV_ROWS:
        result = run_profiles(context, selection, page=page, size=_CSV_PAGE, order=query.order)
        rows += table(result.rows)
        page = result.next_page
    return rows[:CSV_ROWS]
