"""`/p/<project>/flame/over-time`: the chart above the graph, requested after the graph."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.view import MAX_NAME
from frontend.components.charts.chart_notes import chart_notes
from frontend.components.charts.version_marks import list_range_releases
from frontend.components.results.query_errors import (
    BadSelectionAddress,
    require_selection,
    text_errors,
)
from frontend.page_query import find_metric, query_context
from frontend.pages.flame.over_time.chart import OverTime, around, build_over_time
from frontend.params.page_params import PageParams, page_params
from profiles.query import (
    ProfileSelection,
    QueryContext,
    View,
    run_function_strip,
    run_strip,
    strip_step,
)
from projects.access import may_annotate, membership
from projects.models import Project

FUNCTION = parameter.text("function", "Full name of the function of the second series", MAX_NAME)


@require_safe
@text_errors(gettext_lazy("This history takes more than %(n)d s. Try a shorter time range."))
def flame_over_time(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the chart of the page's selection; `function` replaces the focused function."""
    member = membership(request.user, project_id)
    project = member.project
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    params = page_params(reader, now)
    named = require_selection(params, project, now)
    if params.snapshot:
        raise BadSelectionAddress(_("A snapshot has no values over time."))
    selection = params.profile_selection(project.pk, named.service, named.type, now)
    context, function = query_context(request, project), reader.read(FUNCTION) or params.focus
    with context.snapshot:
        shown = _load_over_time(
            context, project, params, selection, around(selection, now), function
        )
    values = {"over_time": shown, "notes": shown.notes, "may_annotate": may_annotate(member)}
    response = render(request, "frontend/flame/over_time.html", values)
    response["Cache-Control"] = "private, no-store"
    return response


def _load_over_time(
    context: QueryContext,
    project: Project,
    params: PageParams,
    selection: ProfileSelection,
    wide: ProfileSelection,
    function: str,
) -> OverTime:
    metric = find_metric(context, selection, params.metric)
    step = strip_step(wide.end - wide.start)
    result = run_strip(context, wide, View(metric=metric), step=step)
    strip = None
    if function:
        view = View(metric=result.metric, filters=params.filters)
        strip = (function, run_function_strip(context, wide, view, function, step))
    notes = chart_notes(project, result.selection, selection, with_functions=True)
    return build_over_time(
        result, selection, list_range_releases(context, result.selection), notes, strip
    )
