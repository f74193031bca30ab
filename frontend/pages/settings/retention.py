"""`/p/<project>/settings/retention`: change the days that profiles are kept."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from frontend.pages.settings.retention_form import RetentionForm
from frontend.pages.settings.view_model import settings_context
from projects.access import membership
from projects.audit import Origin
from projects.models import User
from projects.usage import retention


@require_POST
def change_retention(request: HttpRequest, project_id: str) -> HttpResponse:
    """Change the retention; ask for confirmation first if profiles will be deleted."""
    member = membership(request.user, project_id)
    project = member.project
    form = RetentionForm(project, request.POST)
    if not form.is_valid():
        context = settings_context(member, retention_form=form)
        return render(request, "frontend/settings/settings.html", context, status=400)
    days: int | None = form.cleaned_data["days"]
    before = retention.get_effective_days(form.allowed, project.retention_days)
    after = retention.get_effective_days(form.allowed, days)
    if after < before and "confirmed" not in request.POST:
        confirmation = {
            "project": project,
            "here": "settings",
            "before": before,
            "after": after,
            "profiles": retention.count_older(project, before, after),
        }
        return render(request, "frontend/settings/confirm_retention.html", confirmation)
    retention.change_retention(
        project, days, actor=cast("User", request.user), origin=Origin.from_request(request)
    )
    messages.success(request, _("Retention: %(days)d days") % {"days": after})
    return redirect("settings", project_id)
