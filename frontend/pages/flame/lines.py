"""`/p/<project>/flame/lines`: cost of each source line of a function, below its row in the list."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.view import MAX_NAME
from frontend.components.functions.source_links import source_links, source_version
from frontend.components.results.text_errors import require_selection, text_errors
from frontend.page_query import find_metric, query_context
from frontend.pages.flame.lines_table import lines_table
from frontend.params.page_params import page_params
from profiles.query import run_lines
from projects.access import membership

NAME = parameter.text("name", "Full name of a function", MAX_NAME)
FILE = parameter.text("file", "File of the function", MAX_NAME)


@login_required
@require_safe
@text_errors(_("Merging these profiles takes more than %(n)d s. Try a shorter time range."))
def flame_lines(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the lines of a function, given by `name` and `file` beside the page's parameters."""
    member = membership(request.user, project_id)
    project = member.project
    now = timezone.now()
    reader = LenientReader.of_query(request.GET)
    params = page_params(reader, now)
    selection = require_selection(params, project, now)
    context = query_context(request, project)
    metric = find_metric(context, selection, params.metric)
    result = run_lines(
        context, selection, params.build_view(metric), reader.read(NAME), reader.read(FILE)
    )
    version = source_version(project, params.versions, selection.service)
    table = lines_table(result, source_links(project, member.user, version))
    response = render(request, "frontend/flame/lines.html", {"table": table})
    response["Cache-Control"] = "private, no-store"
    return response
