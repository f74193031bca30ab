"""`/p/<project>/compare`: two sets of profiles, their differences and their significance."""

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.functions.package_colours import PackageColours
from frontend.components.results.downloads import csv_file
from frontend.components.results.query_errors import (
    json_errors,
    require_selection,
    text_errors,
)
from frontend.http.page_compression import compress_json
from frontend.page_query import query_context
from frontend.pages.compare import view_model as compare_page
from frontend.pages.compare.changes import columns, table
from frontend.pages.compare.comparison import find_or_compare
from frontend.params.compare_params import FRAME, NEW, RELATIVE, VALUES, VIEWS, read
from frontend.params.form_address import redirect_form
from frontend.params.page_params import SEEN
from profiles.query import (
    CompareResult,
    QueryContext,
    SavedTreeNotFound,
    compare_document,
    dumps,
)
from projects.access import may_embed, membership, project_for
from projects.models import Project

_LATE = _("Comparing these profiles takes more than %(n)d s. Try a shorter time range.")


@require_safe
def compare(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the page; without parameters or with `new`, redirect to a new comparison.

    Its URL states the baseline, because without one the baseline is the range before.
    """
    member = membership(request.user, project_id)
    project = member.project
    if redirect := redirect_form(request):
        return redirect
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    query, notices = read(reader, now)
    queries = query_context(request, project)
    is_new = not request.GET or reader.read(NEW)
    if is_new and (
        start := compare_page.find_new_comparison(queries, project, query.selected, now)
    ):
        return HttpResponseRedirect(f"{request.path}?{start}")
    try:
        shown = compare_page.context(queries, project, query, notices, now)
    except SavedTreeNotFound as error:
        raise Http404(str(error)) from error
    context = {
        "project": project,
        "here": "compare",
        "frame": reader.read(FRAME),
        "views": VIEWS,
        "may_embed": may_embed(member),
        **shown,
    }
    return render(request, "frontend/compare/page.html", context)


@require_safe
@json_errors(_LATE)
def compare_tree(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the comparison as JSON, see docs/reference/api.md; errors are {"error": sentence}."""
    project = project_for(request.user, project_id)
    context = query_context(request, project)
    document = compare_document(context, _result(request, project, context))
    PackageColours(()).add_columns(document, context.check)  # for the labels of frames
    return compress_json(request, dumps(document))


@require_safe
@text_errors(_LATE)
def compare_csv(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    relative = LenientReader.from_query(request.GET).read(VALUES) == RELATIVE
    result = _result(request, project, query_context(request, project))
    header, rows = columns(result, relative=relative), table(result, relative=relative)
    return csv_file("compare.csv", header, rows)


def _result(request: HttpRequest, project: Project, context: QueryContext) -> CompareResult:
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    query, _notices = read(reader, now)
    selected = require_selection(query.selected, project, now)
    baseline = query.baseline.selection(project.pk, selected.service, selected.type, now)
    return find_or_compare(context, query, (selected, baseline), reader.read(SEEN))
