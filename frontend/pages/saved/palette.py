"""`/p/<project>/saved/palette`: services, views and snapshots for the command palette, as JSON."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from frontend.components.services import by_last_seen
from frontend.pages.saved.view import view_url
from frontend.queries.carried import carried_with
from frontend.queries.page_query import query_context
from profiles.query import run_service_names, snapshots_of
from projects import saved_views
from projects.access import project_for

_MOST_SERVICES = 1000


@login_required
@require_safe
@never_cache
def palette(request: HttpRequest, project_id: str) -> JsonResponse:
    """Return {"entries": [{"group", "text", "url"}, …]}; the newest services first.

    The parameters are the selection of the page: its service is linked with all of them, others
    with its range.
    """
    project = project_for(request.user, project_id)
    flame = reverse("flame", args=[project_id])
    services = by_last_seen(run_service_names(query_context(request, project)))
    carried = carried_with(request)
    entries = [
        *(
            ("services", each.service, f"{flame}?{carried.of_service(each.service)}")
            for each in services[:_MOST_SERVICES]
        ),
        *(
            ("views", view.name, view_url(project_id, view))
            for view in saved_views.of_project(project)
        ),
        *(
            ("snapshots", info.title, f"{flame}?{urlencode({'snapshot': info.id})}")
            for info in snapshots_of(project.pk)
        ),
    ]
    return JsonResponse(
        {"entries": [{"group": group, "text": text, "url": url} for group, text, url in entries]}
    )
