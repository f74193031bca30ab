"""Open quota requests in the admin, and the actions that decide them."""

from dataclasses import dataclass
from typing import cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from common.amounts import parse_amount
from projects import quota_requests
from projects.admin.read_only import operator_origin
from projects.models import Project, QuotaRequest, QuotaRequestState, User
from projects.models.project import MAX_REASON
from projects.quota_requests import RequestRejected
from projects.usage.limits import LimitName
from projects.usage.quota_reached import amount_text

MAX_SHOWN = 50  # of all projects, the oldest first
_PERMISSION = "projects.change_project"


class DecisionForm(forms.Form):
    amount = forms.CharField(max_length=30, required=False)  # to grant
    note = forms.CharField(max_length=MAX_REASON, required=False)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    request: QuotaRequest
    text: str
    amount: str  # as the form takes it


def list_open_requests(project: Project | None = None) -> list[OpenRequest]:
    """Return the open requests of a project, or of all, the oldest first."""
    rows = QuotaRequest.objects.filter(state=QuotaRequestState.OPEN, project__deletion_due=None)
    if project is not None:
        rows = rows.filter(project=project)
    rows = rows.select_related("project", "created_by").order_by("created", "pk")
    return [
        OpenRequest(row, quota_requests.describe(row), _format_amount(row))
        for row in rows[:MAX_SHOWN]
    ]


@require_POST
def grant(request: HttpRequest, pk: int) -> HttpResponse:
    row, form = _find(request, pk), DecisionForm(request.POST)
    amount = parse_amount(form.cleaned_data["amount"]) if form.is_valid() else None
    if amount is None:
        messages.error(request, _("Enter a number, or a size like 40 GB."))
        return _back(request, row)
    operator, origin = cast("User", request.user), operator_origin(request)
    try:
        granted = quota_requests.grant(
            row, amount, form.cleaned_data["note"], actor=operator, origin=origin
        )
    except RequestRejected as rejected:
        messages.error(request, str(rejected))
    else:
        messages.success(
            request,
            _("%(project)s: %(change)s")
            % {"project": row.project.name, "change": quota_requests.describe(granted)},
        )
    return _back(request, row)


@require_POST
def decline(request: HttpRequest, pk: int) -> HttpResponse:
    row, form = _find(request, pk), DecisionForm(request.POST)
    if not form.is_valid() or not form.cleaned_data["note"]:
        messages.error(request, _("Enter a note: the project's owners and admins see it."))
        return _back(request, row)
    operator, origin = cast("User", request.user), operator_origin(request)
    try:
        quota_requests.decline(row, form.cleaned_data["note"], actor=operator, origin=origin)
    except RequestRejected as rejected:
        messages.error(request, str(rejected))
    else:
        messages.success(request, _("Request declined."))
    return _back(request, row)


def _find(request: HttpRequest, pk: int) -> QuotaRequest:
    """Return the request for an operator who may change projects. Raise Http404 for others."""
    operator = cast("User", request.user)
    rows = QuotaRequest.objects.select_related("project")
    return get_object_or_404(rows if operator.has_perm(_PERMISSION) else rows.none(), pk=pk)


def _back(request: HttpRequest, row: QuotaRequest) -> HttpResponse:
    """Return to the page that has the form."""
    if request.POST.get("page") == "overview":
        return redirect("admin:index")
    return redirect("admin:projects_project_overview", row.project_id)


def _format_amount(row: QuotaRequest) -> str:
    """Return the amount with its unit, unless that would round it."""
    text = amount_text(LimitName(row.limit), row.amount)
    return text if parse_amount(text) == row.amount else str(row.amount)
