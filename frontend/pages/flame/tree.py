"""`/p/<project>/flame/tree`: the merged call tree as JSON, for the graph on the flame page."""

import gzip
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.page_query import DEADLINE_SECONDS, query_context
from frontend.pages.flame.merged_tree import MergedPage, find_or_merge
from frontend.params.page_params import PREVIEW, SEEN, page_params
from profiles.query import (
    DeadlinePassed,
    FocusResult,
    InvalidQuery,
    QueryContext,
    dumps,
    focus_document,
    preview,
    tree_document,
)
from projects.access import project_for

_COMPRESSION = 5  # gzip level: higher ones save a few percent for twice the time


@require_safe
def flame_tree(request: HttpRequest, project_id: str) -> HttpResponse:
    """Return the tree as JSON (docs/reference/api.md, "tree"); errors are {"error": sentence}.

    It also has the packages of its frames, and their shares and colours in the whole selection
    (`PackageColours.add_columns`). With `preview=1`, a large tree has only its largest nodes, and
    `preview` is true.
    """
    if not request.user.is_authenticated:
        return _error(HTTPStatus.UNAUTHORIZED, _("Sign in to see this project."))
    project = project_for(request.user, project_id)
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    params = page_params(reader, now)
    if not params.service or params.type is None:
        return _error(HTTPStatus.BAD_REQUEST, _("The address must name a service and a type."))
    selection = params.selection(project.pk, params.service, params.type, now)
    context = query_context(request, project)
    try:
        page = find_or_merge(context, params, selection, reader.read(SEEN))
        body = _body(context, page, reader.read(PREVIEW))
    except InvalidQuery as error:
        return _error(HTTPStatus.BAD_REQUEST, str(error))
    except DeadlinePassed:
        sentence = _("Merging these profiles takes more than %(n)d s. Try a shorter time range.")
        return _error(HTTPStatus.SERVICE_UNAVAILABLE, sentence % {"n": DEADLINE_SECONDS})
    return _compress(body)


def _body(context: QueryContext, page: MergedPage, may_be_preview: bool) -> bytes:
    if isinstance(page.drawn, FocusResult):
        document = focus_document(context, page.drawn)
    elif may_be_preview and (first := preview(context, page.drawn)):
        document = tree_document(context, first, is_preview=True)
    else:
        document = tree_document(context, page.drawn)
    page.get_colours(context.check).add_columns(document, context.check)
    return dumps(document)


def _compress(body: bytes) -> HttpResponse:
    """Compress the body here, because GZipMiddleware would expose HTML pages to BREACH."""
    response = HttpResponse(gzip.compress(body, _COMPRESSION, mtime=0), "application/json")
    response["Content-Encoding"] = "gzip"
    response["Cache-Control"] = "private, no-store"
    return response


def _error(status: HTTPStatus, sentence: str) -> JsonResponse:
    response = JsonResponse({"error": sentence}, status=status)
    response["Cache-Control"] = "private, no-store"
    return response
