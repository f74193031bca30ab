"""`/projects/deleted`: the projects of an account that will be deleted, and how to restore them."""

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionRejected
from projects.audit import Origin
from projects.models import User


@require_safe
@never_cache
def list_deleted(request: HttpRequest) -> HttpResponse:
    projects = jobs.list_hidden_projects(cast("User", request.user))
    return render(request, "frontend/deletion/deleted_projects.html", {"projects": projects})


@require_POST
def restore(request: HttpRequest, project_id: str) -> HttpResponse:
    """Restore a project; one that the account does not own is 404."""
    user = cast("User", request.user)
    owned = jobs.list_hidden_projects(user)
    project = next((each for each in owned if each.project_id == project_id), None)
    if project is None:
        raise Http404(_("There is no such project, or you are not its owner."))
    try:
        jobs.restore_project(project, actor=user, origin=Origin.from_request(request))
    except DeletionRejected as rejected:
        messages.warning(request, str(rejected))
        return redirect("deleted_projects")
    messages.success(request, _("%(project)s was restored") % {"project": project.name})
    return redirect("services", project_id)
