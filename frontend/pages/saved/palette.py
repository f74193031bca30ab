"""`/p/<project>/saved/palette`: services, views and snapshots for the command palette, as JSON."""

from collections.abc import Iterator

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from frontend.page_query import query_context
from frontend.pages.saved.view import view_url
from frontend.params.list_params import FIND
from frontend.params.page_links import read_carried
from profiles.query import list_saved_trees, run_service_search
from projects import saved_views
from projects.access import project_for
from projects.models import Project

_MAX_SERVICES = 50  # of one search; the palette lists fewer
_Entry = tuple[str, str, str]  # group, text, URL


@require_safe
@never_cache
def palette(request: HttpRequest, project_id: str) -> JsonResponse:
    """Return {"entries": [{"group", "text", "url"}, …], "services": number of matching services}.

    `find` searches the services by the words of their names; without it the entries are the
    services seen last, and all views and snapshots. The other parameters are the selection of the
    page: its service is linked with all of them, others with its range.
    """
    project = project_for(request.user, project_id)
    flame = reverse("flame", args=[project_id])
    words = LenientReader.from_query(request.GET).read(FIND).split()
    services = run_service_search(query_context(request, project), words, _MAX_SERVICES)
    carried = read_carried(request)
    entries: list[_Entry] = [
        ("services", name, f"{flame}?{carried.service_parameters(name)}") for name in services.names
    ]
    if not words:
        entries += _list_saved_entries(project, flame)
    return JsonResponse(
        {
            "entries": [{"group": group, "text": text, "url": url} for group, text, url in entries],
            "services": services.found,
        }
    )


def _list_saved_entries(project: Project, flame: str) -> Iterator[_Entry]:
    for view in saved_views.list_views(project):
        yield "views", view.name, view_url(project.project_id, view)
    for info in list_saved_trees(project.pk):
        yield "snapshots", info.title, f"{flame}?{urlencode({'snapshot': info.id})}"
