"""`/p/<project>/flame/download/<format>`: the merged profiles of the selection as a file."""

from dataclasses import replace
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.downloads import ENDINGS, download_name
from frontend.http.fragments import text_error
from frontend.page_query import DEADLINE_SECONDS, find_metric, query_context
from frontend.params.page_params import page_params
from profiles.query import (
    DeadlinePassed,
    ExportFile,
    ExportFormat,
    InvalidQuery,
    Shape,
    View,
    run_export,
)
from projects.access import project_for


@login_required
@require_safe
def flame_download(request: HttpRequest, project_id: str, form: str) -> HttpResponse:
    """Export the selection without truncation.

    A URL without service or type, or with an invalid query, gets 400; a passed deadline gets 503.
    """
    project = project_for(request.user, project_id)
    if form not in ENDINGS:
        raise Http404
    now = timezone.now()
    params = page_params(LenientReader.of_query(request.GET), now)
    if not params.service or params.type is None:
        sentence = _("The address must name a service and a type.")
        return text_error(HTTPStatus.BAD_REQUEST, sentence)
    shown = project.pk, params.service, params.type, now
    selection = params.selection(*shown)
    context = query_context(request, project)
    try:
        metric = find_metric(context, selection, params.metric)
        view = _file_view(params.build_view(metric), form)
        file = run_export(context, selection, view, ExportFormat(form))
    except InvalidQuery as error:
        return text_error(HTTPStatus.BAD_REQUEST, str(error))
    except DeadlinePassed:
        sentence = _("Merging these profiles takes more than %(n)d s. Try a shorter time range.")
        return text_error(HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"n": DEADLINE_SECONDS})
    return _file(file, download_name(params.profile_selection(*shown), form))


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
