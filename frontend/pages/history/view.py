"""`/p/<project>/history`: cost of functions over time, with version marks."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.chart_page import require_chart_page
from frontend.components.results.downloads import csv_file
from frontend.components.results.query_errors import text_errors
from frontend.page_query import query_context
from frontend.pages.history import view_model as history_page
from frontend.pages.history.params import read
from frontend.pages.history.view_model import columns, load_history, table
from frontend.params.form_address import redirect_form
from projects.access import may_annotate, membership, project_for


@require_safe
def history(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    project = member.project
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    query, notices = read(LenientReader.from_query(request.GET), now)
    context = {
        "project": project,
        "here": "history",
        "page_name": _("History"),
        "may_annotate": may_annotate(member),
        **history_page.context(query_context(request, project), project, query, notices, now),
    }
    return render(request, "frontend/history/page.html", context)


@require_safe
@text_errors(gettext_lazy("This history takes more than %(n)d s. Try a shorter time range."))
def history_csv(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the history as CSV; a URL without service or type gets 400."""
    project = project_for(request.user, project_id)
    now = timezone.now()
    query, _notices = read(LenientReader.from_query(request.GET), now)
    context = query_context(request, project)
    with context.snapshot:
        result = load_history(require_chart_page("history", context, project, query, now))
    return csv_file("history.csv", columns(result), table(result))
