"""`/p/<project>/settings/data`: delete profiles, services and the project."""

from typing import cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from frontend.pages.deletion.exports import export_context
from frontend.pages.deletion.form import ConfirmForm, SelectionForm
from frontend.pages.deletion.outcome import report_outcome
from frontend.text.display_names import type_name
from profiles.deletion import jobs
from projects.access import project_for
from projects.audit import Origin
from projects.models import Project, User
from projects.profile_types import ProfileType


@require_safe
@never_cache
def show_data(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    return _render_page(request, project, SelectionForm(project))


@require_safe
@never_cache
def list_jobs(request: HttpRequest, project_id: str) -> HttpResponse:
    """Render the list of deletions, which the page requests again until all have ended."""
    project = project_for(request.user, project_id)
    return render(request, "frontend/deletion/jobs.html", _context(project))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_selection(request: HttpRequest, project_id: str) -> HttpResponse:
    """Ask for confirmation on GET, request the deletion on POST; the URL has the selection."""
    project = project_for(request.user, project_id)
    form = SelectionForm(project, request.GET)
    if not form.is_valid():
        return _render_page(request, project, form, status=400)
    selection = form.selection
    confirm = ConfirmForm(selection.service or project.project_id, request.POST or None)
    if request.method == "POST" and confirm.is_valid():
        done = _("The deletion starts in 5 minutes. Until then you can cancel it.")
        with report_outcome(request, done):
            jobs.request_deletion(
                project,
                selection,
                actor=cast("User", request.user),
                origin=Origin.from_request(request),
            )
        return redirect("data", project_id)
    context = _context(project) | {
        "selection": selection,
        "type": type_name(ProfileType(selection.type)) if selection.type else "",
        "confirm": confirm,
        "profiles": jobs.count_profiles(project, selection),
    }
    status = 400 if confirm.errors else 200
    return render(request, "frontend/deletion/confirm.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_project(request: HttpRequest, project_id: str) -> HttpResponse:
    """Ask for confirmation on GET, hide the project and request its deletion on POST."""
    project = project_for(request.user, project_id)
    confirm = ConfirmForm(project.project_id, request.POST or None)
    if request.method == "POST" and confirm.is_valid():
        with report_outcome(request, _("%(project)s is hidden") % {"project": project.name}):
            jobs.request_project_deletion(
                project, actor=cast("User", request.user), origin=Origin.from_request(request)
            )
        return redirect("deleted_projects")
    context = _context(project) | {"confirm": confirm}
    status = 400 if confirm.errors else 200
    return render(request, "frontend/deletion/confirm_project.html", context, status=status)


@require_POST
def cancel(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    project = project_for(request.user, project_id)
    job = jobs.find(project, pk)
    if job is None:
        raise Http404(_("There is no such deletion in this project."))
    with report_outcome(request, _("The deletion was canceled")):
        jobs.cancel(job, actor=cast("User", request.user), origin=Origin.from_request(request))
    return redirect("data", project_id)


def _render_page(
    request: HttpRequest, project: Project, form: SelectionForm, status: int = 200
) -> HttpResponse:
    context = _context(project) | export_context(project) | {"form": form}
    return render(request, "frontend/deletion/page.html", context, status=status)


def _context(project: Project) -> dict[str, object]:
    deletions = jobs.list_deletions(project)
    return {
        "project": project,
        "here": "settings",
        "deletions": deletions,
        "is_running": any(each.is_open for each in deletions),
        "days": settings.PROJECT_DELETION_DAYS,
    }
