"""`/p/<project>/flame/lines`: cost and source link of each line of a function, below its row."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.view import MAX_NAME
from frontend.components.functions.source_links import SourceLinks, source_links, source_version
from frontend.components.results.coverage_notices import left_out
from frontend.components.results.query_errors import require_selection, text_errors
from frontend.page_query import find_metric, query_context
from frontend.params.page_params import page_params
from frontend.text.units import format_percent, format_value
from profiles.query import LinesResult, run_lines
from projects.access import membership

NAME = parameter.text("name", "Full name of a function", MAX_NAME)
FILE = parameter.text("file", "File of the function", MAX_NAME)


@require_safe
@text_errors(_("Merging these profiles takes more than %(n)d s. Try a shorter time range."))
def flame_lines(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the lines of a function, given by `name` and `file` beside the page's parameters."""
    member = membership(request.user, project_id)
    project = member.project
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
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


MOST_LINES = 100  # about 20 kB; the most expensive lines, ordered by line number


@dataclass(frozen=True, slots=True)
class LineCost:
    line: int  # 0 if unknown
    self: str
    self_share: str
    total: str
    total_share: str
    url: str  # "" without a source link template
    editor_url: str  # "" without an editor link template


@dataclass(frozen=True, slots=True)
class LinesTable:
    name: str
    file: str
    url: str  # of the file
    editor_url: str
    lines: list[LineCost]
    left_out: tuple[str, ...]  # sentences about profiles that are missing from the numbers
    more: int  # number of cheaper lines that are not shown


def lines_table(result: LinesResult, links: SourceLinks) -> LinesTable:
    """Build the table of lines: averages per profile, and shares of the graph's total."""
    heavy = sorted(result.rows, key=lambda row: -row.total)[:MOST_LINES]
    profiles, unit = max(1, result.coverage.profiles), result.metric.unit
    whole = result.drawn_total

    return LinesTable(
        name=result.name,
        file=result.file,
        url=links.source(result.file, 1),
        editor_url=links.editor(result.file, 1),
        lines=[
            LineCost(
                line=row.line,
                self=format_value(row.self / profiles, unit),
                self_share=format_percent(row.self, whole),
                total=format_value(row.total / profiles, unit),
                total_share=format_percent(row.total, whole),
                url=links.source(result.file, row.line) if row.line else "",
                editor_url=links.editor(result.file, row.line) if row.line else "",
            )
            for row in sorted(heavy, key=lambda row: row.line)
        ],
        left_out=left_out(result.coverage),
        more=len(result.rows) - len(heavy),
    )
