"""`/p/<project>/flame/download/<format>`: the merged profiles of the selection as a file."""

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.downloads import ENDINGS, download_name
from frontend.components.results.query_errors import require_selection, text_errors
from frontend.page_query import find_metric, query_context
from frontend.params.page_params import page_params
from profiles.query import (
    ExportFile,
    ExportFormat,
    Shape,
    View,
    run_export,
)
from projects.access import project_for


@require_safe
@text_errors(_("Merging these profiles takes more than %(n)d s. Try a shorter time range."))
def flame_download(request: HttpRequest, project_id: str, form: str) -> HttpResponse:
    """Export the selection without truncation."""
    project = project_for(request.user, project_id)
    if form not in ENDINGS:
        raise Http404
    now = timezone.now()
    params = page_params(LenientReader.from_query(request.GET), now)
    selection = require_selection(params, project, now)
    context = query_context(request, project)
    metric = find_metric(context, selection, params.metric)
    view = _file_view(params.build_view(metric), form)
    file = run_export(context, selection, view, ExportFormat(form))
    profiles = params.profile_selection(project.pk, selection.service, selection.type, now)
    return _file(file, download_name(profiles, form))


def _file_view(view: View, form: str) -> View:
    """Return the view to export: what the page draws, with stacks in call order.

    Like the function list on the page, its CSV file has no root, and neither has the file of a
    focused function. The root of an inverted view exists only in that view, so the file keeps
    that shape.
    """
    if form == ExportFormat.CSV or view.focus is not None:
        return replace(view, shape=Shape.TOP_DOWN, root=None)
    return view if view.root is not None else replace(view, shape=Shape.TOP_DOWN)


def _file(file: ExportFile, name: str) -> HttpResponse:
    response = HttpResponse(file.data, "application/octet-stream")
    if file.left_out:
        response["X-Flamewatch-Left-Out"] = str(file.left_out)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response
