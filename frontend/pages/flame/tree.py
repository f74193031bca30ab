"""`/p/<project>/flame/tree`: the merged call tree as JSON, for the graph on the flame page."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.components.results.query_errors import json_errors, require_selection
from frontend.http.page_compression import compress_json
from frontend.page_query import query_context
from frontend.pages.flame.merged_tree import MergedPage, find_or_merge
from frontend.params.page_params import PREVIEW, SEEN, page_params
from profiles.query import (
    FocusResult,
    QueryContext,
    dumps,
    focus_document,
    preview,
    tree_document,
)
from projects.access import project_for


@require_safe
@json_errors(_("Merging these profiles takes more than %(n)d s. Try a shorter time range."))
def flame_tree(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the tree as JSON (docs/reference/api.md, "tree"); errors are {"error": sentence}.

    It also has the packages of its frames, and their shares and colours in the whole selection
    (`PackageColours.add_columns`). With `preview=1`, a large tree has only its largest nodes, and
    `preview` is true.
    """
    project = project_for(request.user, project_id)
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    params = page_params(reader, now)
    selection = require_selection(params, project, now)
    context = query_context(request, project)
    page = find_or_merge(context, params, selection, reader.read(SEEN))
    return compress_json(request, _body(context, page, reader.read(PREVIEW)))


def _body(context: QueryContext, page: MergedPage, may_be_preview: bool) -> bytes:
    if isinstance(page.drawn, FocusResult):
        document = focus_document(context, page.drawn)
    elif may_be_preview and (first := preview(context, page.drawn)):
        document = tree_document(context, first, is_preview=True)
    else:
        document = tree_document(context, page.drawn)
    page.get_colours(context.check).add_columns(document, context.check)
    return dumps(document)
