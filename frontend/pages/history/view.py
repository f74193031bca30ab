"""`/p/<project>/history`: cost of functions over time, with version marks."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.downloads import csv_file
from frontend.http.fragments import text_error
from frontend.page_query import DEADLINE_SECONDS, load_options, query_context, resolve_page_query
from frontend.pages.history import view_model as history_page
from frontend.pages.history.params import read
from frontend.pages.history.view_model import columns, load_history, table
from frontend.params.form_address import redirect_form
from frontend.params.page_params import ParsedParams
from profiles.query import DeadlinePassed, InvalidQuery
from projects.access import may_annotate, membership, project_for


@login_required
@require_safe
def history(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    project = member.project
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    query, notices = read(LenientReader.of_query(request.GET), now)
    context = {
        "project": project,
        "here": "history",
        "may_annotate": may_annotate(member),
        **history_page.context(query_context(request, project), project, query, notices, now),
    }
    return render(request, "frontend/history/page.html", context)


@login_required
@require_safe
def history_csv(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the history as CSV; a URL without service or type gets 400."""
    project = project_for(request.user, project_id)
    now = timezone.now()
    query, _notices = read(LenientReader.of_query(request.GET), now)
    try:
        context = query_context(request, project)
        page_query = resolve_page_query(context, project, ParsedParams(query.params, ()), now)
        if page_query is None or not query.params.service or query.params.type is None:
            sentence = _("The address must name a service and a type.")
            return text_error(HTTPStatus.BAD_REQUEST, sentence)
        result = load_history(page_query, query, load_options(context, page_query.selection))
    except InvalidQuery as error:
        return text_error(HTTPStatus.BAD_REQUEST, str(error))
    except DeadlinePassed:
        sentence = _("This history takes more than %(n)d s. Try a shorter time range.")
        return text_error(HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"n": DEADLINE_SECONDS})
    return csv_file("history.csv", columns(result), table(result))
