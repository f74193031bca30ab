"""`/p/<project>/flame/functions`: the function list, or further rows of it, for htmx."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.query_errors import require_selection, text_errors
from frontend.page_query import query_context
from frontend.pages.flame.function_list import functions_page
from frontend.pages.flame.merged_tree import find_or_merge
from frontend.params.list_params import PAGE
from frontend.params.page_params import SEEN, page_params
from projects.access import project_for

_MOST_PAGES = 10_000


@require_safe
@text_errors(_("Merging these profiles takes more than %(n)d s. Try a shorter time range."))
def flame_functions(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the list with its heading, or from page 2 on only rows.

    The last row links to the next page of rows.
    """
    project = project_for(request.user, project_id)
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    params = page_params(reader, now)
    selection = require_selection(params, project, now)
    seen = reader.read(SEEN)
    context = query_context(request, project)
    results = find_or_merge(context, params, selection, seen)
    number = min(reader.read(PAGE), _MOST_PAGES)
    page = functions_page(context, params, results, project, seen, number)
    values = {"functions": page, "params": params, "project": project}
    template = "rows" if number > 1 else "functions"
    response = render(request, f"frontend/flame/{template}.html", values)
    response["Cache-Control"] = "private, no-store"
    return response
