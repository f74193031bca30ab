"""`/p/<project>/settings/usage`: quotas, usage of the last 30 days, requests for more."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.pages.usage.form import QuotaRequestForm
from frontend.pages.usage.view_model import usage_context
from projects import quota_requests
from projects.access import membership
from projects.audit import Origin
from projects.models import User
from projects.quota_requests import RequestRejected
from projects.usage.usage import load_usage


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def usage(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show quotas and usage on GET; ask the operator for a higher limit on POST."""
    member = membership(request.user, project_id)
    usage = load_usage(member.project.pk)
    if request.method != "POST":
        form = QuotaRequestForm(usage.limits, limit=request.GET.get("limit", ""))
        context = usage_context(member, usage, form)
        return render(request, "frontend/usage/page.html", context)
    form = QuotaRequestForm(usage.limits, request.POST)
    if form.is_valid():
        try:
            quota_requests.create(
                member.project,
                form.cleaned_data["limit"],
                form.cleaned_data["amount"],
                form.cleaned_data["reason"],
                actor=cast("User", request.user),
                origin=Origin.from_request(request),
            )
        except RequestRejected as rejected:
            form.add_error(None, str(rejected))
        else:
            messages.success(request, _("Request sent to the operator"))
            return redirect("usage", project_id)
    context = usage_context(member, usage, form)
    return render(request, "frontend/usage/page.html", context, status=400)
