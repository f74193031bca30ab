"""`/p/<project>/settings`: name, capture rate, source links and retention."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.pages.settings.project_form import ProjectForm
from frontend.pages.settings.view_model import settings_context
from projects import project_settings
from projects.access import membership
from projects.audit import Origin
from projects.models import User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    if request.method != "POST":
        return render(request, "frontend/settings/settings.html", settings_context(member))
    form = ProjectForm(member.project, request.POST)
    if not form.is_valid():
        context = settings_context(member, project_form=form)
        return render(request, "frontend/settings/settings.html", context, status=400)
    project_settings.change(
        member.project,
        form.values,
        actor=cast("User", request.user),
        origin=Origin.from_request(request),
    )
    messages.success(request, _("Settings saved"))
    return redirect("settings", project_id)
