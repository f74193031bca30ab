"""`/p/<project>/breakdown`: a metric over time by the values of a label."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from endpoints.params.reader import LenientReader
from frontend.components.results.chart_page import require_chart_page
from frontend.components.results.downloads import csv_file
from frontend.components.results.query_errors import text_errors
from frontend.http.fragments import wants_fragment
from frontend.page_query import query_context, resolve_page_query
from frontend.pages.breakdown import view_model as breakdown_page
from frontend.pages.breakdown.params import COMPARE, PICK, read
from frontend.pages.breakdown.value_table import columns, table
from frontend.params.form_address import redirect_form
from frontend.params.page_params import ParsedParams
from projects.access import may_annotate, membership, project_for


@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request")
def breakdown(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the page, or only the table for htmx; with two picked values, go to the comparison."""
    member = membership(request.user, project_id)
    project = member.project
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    query, notices = read(reader, now)
    queries = query_context(request, project)
    if reader.read(COMPARE):
        with queries.snapshot:
            page_query = resolve_page_query(queries, project, ParsedParams(query.params, ()), now)
            sides = (
                breakdown_page.comparison(page_query, query, reader.several(PICK))
                if page_query
                else None
            )
        if sides:
            return HttpResponseRedirect(f"{reverse('compare', args=[project_id])}?{sides}")
        notices = (*notices, _("Select two values to compare."))
    context = {
        "project": project,
        "here": "breakdown",
        "page_name": _("Breakdown"),
        "may_annotate": may_annotate(member),
        **breakdown_page.context(queries, project, query, notices, now),
    }
    if wants_fragment(request) and context.get("shown"):
        response = render(request, "frontend/breakdown/table.html", context)
        response.headers["HX-Push-Url"] = request.get_full_path()
        return response
    return render(request, "frontend/breakdown/page.html", context)


@require_safe
@text_errors(gettext_lazy("This breakdown takes more than %(n)d s. Try a shorter time range."))
def breakdown_csv(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the sums of each value as CSV; a URL without service or type gets 400."""
    project = project_for(request.user, project_id)
    now = timezone.now()
    query, _notices = read(LenientReader.from_query(request.GET), now)
    context = query_context(request, project)
    with context.snapshot:
        page = require_chart_page("breakdown", context, project, query, now)
        result, previous = breakdown_page.load_series(page)
    return csv_file("breakdown.csv", columns(query, result), table(result, previous))
