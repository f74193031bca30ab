"""Exports of the project on the page of its data: request, cancel, list and download them."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from frontend.http.thread_response import PulledResponse
from frontend.pages.deletion.outcome import report_outcome
from profiles.project_export import jobs
from profiles.project_export.jobs import ExportRejected
from projects.access import project_for
from projects.audit import Origin
from projects.models import Project, User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def exports(request: HttpRequest, project_id: str) -> HttpResponse:
    """Request an export on POST; else render the list, which the page requests again."""
    project = project_for(request.user, project_id)
    if request.method != "POST":
        return render(request, "frontend/deletion/exports.html", export_context(project))
    with report_outcome(request, _("The export starts within a minute.")):
        jobs.request_export(
            project, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
    return redirect("data", project_id)


@require_POST
def cancel(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    job = _find(project_for(request.user, project_id), pk)
    with report_outcome(request, _("The export was canceled")):
        jobs.cancel(job, actor=cast("User", request.user), origin=Origin.from_request(request))
    return redirect("data", project_id)


@require_safe
@never_cache
def download(request: HttpRequest, project_id: str, pk: int) -> HttpResponseBase:
    """Send the archive part by part; each download is an entry of the audit log."""
    job = _find(project_for(request.user, project_id), pk)
    headers = {"Content-Disposition": f'attachment; filename="{jobs.build_file_name(job)}"'}
    if request.method == "HEAD":
        return HttpResponse(content_type="application/x-tar", headers=headers)
    try:
        parts = jobs.download(
            job, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
    except ExportRejected as rejected:
        messages.warning(request, str(rejected))
        return redirect("data", project_id)
    return PulledResponse(parts, content_type="application/x-tar", headers=headers)


def export_context(project: Project) -> dict[str, object]:
    listed = jobs.list_exports(project)
    return {
        "project": project,
        "exports": listed,
        "is_exporting": any(each.state in jobs.OPEN_STATES for each in listed),
        "export_days": settings.EXPORT_DAYS,
    }


def _find(project: Project, pk: int) -> jobs.ExportJob:
    job = jobs.find(project, pk)
    if job is None:
        raise Http404(_("There is no such export in this project."))
    return job
