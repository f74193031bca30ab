"""Tenant page of the admin: why profiles were rejected, quotas, usage, people, operator actions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import cast

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from projects import audit, members, suspension, visits
from projects.admin.quota_form import QuotaForm, record_changes
from projects.admin.quota_request_list import decline, grant, list_open_requests
from projects.admin.read_only import operator_origin
from projects.models import (
    ActorKind,
    Agent,
    ApiKey,
    AuditEntry,
    Deployment,
    Plan,
    Project,
    Quota,
    User,
)
from projects.models.project import MAX_REASON
from projects.usage.limits import LimitName, list_general_rows, merge_quotas
from projects.usage.quota_reached import amount_text
from projects.usage.rejection_advice import RejectionRow, count_today, list_rejections
from projects.usage.usage import LimitUsage, load_usage
from projects.usage.usage_history import load_history

_ENTRIES = 20  # operator actions shown
_BAR_HEIGHT = 100
_PERMISSION = "projects.change_project"


class ReasonForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MAX_REASON)


class PlanForm(forms.Form):
    plan = forms.ModelChoiceField(
        Plan.objects.order_by("name"),
        label=gettext_lazy("Plan"),
        required=False,
        empty_label=gettext_lazy("Default quotas"),
    )


class OverridesForm(QuotaForm):
    class Meta:
        model = Quota
        fields = [*LimitName]


@dataclass(frozen=True, slots=True)
class LimitRow:
    """One limit: its value in the plan or the defaults, its usage, and the field to override it."""

    usage: LimitUsage
    general: str  # value without the override
    field: forms.BoundField
    percent: float | None  # of the limit in use


@dataclass(frozen=True, slots=True)
class DayBar:
    day: date
    profiles: int
    rejected: int
    height: int  # of _BAR_HEIGHT
    rejected_height: int


def tenant_urls(site_view: Callable[..., Callable[..., HttpResponse]]) -> list[URLPattern]:
    """Return the URLs of the tenant page and its actions, wrapped by the admin's check."""
    pages = {
        "": (overview, "overview"),
        "raise/<str:limit>/": (raise_limit, "raise"),
        "plan/": (change_plan, "plan"),
        "suspend/": (suspend, "suspend"),
        "resume/": (resume, "resume"),
        "visit/": (begin_visit, "visit"),
    }
    return [
        path("visit/end/", site_view(end_visit), name="projects_project_visit_end"),
        path("requests/<int:pk>/grant/", site_view(grant), name="projects_project_grant"),
        path("requests/<int:pk>/decline/", site_view(decline), name="projects_project_decline"),
        *(
            path(f"<int:pk>/overview/{route}", site_view(view), name=f"projects_project_{name}")
            for route, (view, name) in pages.items()
        ),
    ]


def overview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a tenant; a POST saves the overrides of its quotas."""
    project = _find_project(request, pk)
    quota = Quota.objects.filter(project=project).first() or Quota(project=project)
    posted = request.POST if request.method == "POST" else None
    form = OverridesForm(posted, instance=quota)
    if posted is not None and form.is_valid():
        with transaction.atomic():
            form.save()
            record_changes(request, project, form)
        messages.success(request, _("Quotas saved."))
        return _back(project)
    status = 400 if posted is not None else 200
    context = _build_context(request, project, form)
    return render(request, "admin/projects/project/overview.html", context, status=status)


@require_POST
def raise_limit(request: HttpRequest, pk: int, limit: str) -> HttpResponse:
    """Set the override of a limit to twice what is allowed or used, whichever is more."""
    project = _find_project(request, pk)
    usage = {each.name: each for each in load_usage(project.pk).limits}
    name = LimitName(limit) if limit in [*LimitName] else None
    if name is None or name is LimitName.RETENTION_DAYS:
        messages.error(request, _("There is no such limit."))
        return _back(project)
    raised = _compute_raised_limit(usage[name])
    with transaction.atomic():
        quota, _is_new = Quota.objects.select_for_update().get_or_create(project=project)
        before = getattr(quota, name)
        setattr(quota, name, raised)
        quota.save(update_fields=[name])
        audit.record(
            project,
            "quota.change",
            actor=cast("User", request.user),
            origin=operator_origin(request),
            target=project.name,
            changes={name: [before, raised]},
        )
    message = _("%(limit)s: the limit is %(amount)s now.")
    messages.success(
        request, message % {"limit": usage[name].label, "amount": amount_text(name, raised)}
    )
    return _back(project)


@require_POST
def change_plan(request: HttpRequest, pk: int) -> HttpResponse:
    project = _find_project(request, pk)
    form = PlanForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("There is no such plan."))
        return _back(project)
    before, project.plan = project.plan, form.cleaned_data["plan"]
    if before != project.plan:
        with transaction.atomic():
            project.save(update_fields=["plan"])
            audit.record(
                project,
                "project.plan",
                actor=cast("User", request.user),
                origin=operator_origin(request),
                target=project.name,
                before=str(before or ""),
                plan=str(project.plan or ""),
            )
    messages.success(request, _("Plan saved."))
    return _back(project)


@require_POST
def suspend(request: HttpRequest, pk: int) -> HttpResponse:
    project = _find_project(request, pk)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason: members and agents see it."))
        return _back(project)
    suspension.suspend(
        project,
        form.cleaned_data["reason"],
        actor=cast("User", request.user),
        origin=operator_origin(request),
    )
    messages.success(request, _("The project is suspended: agents and uploads are rejected."))
    return _back(project)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    project = _find_project(request, pk)
    suspension.resume(project, actor=cast("User", request.user), origin=operator_origin(request))
    messages.success(request, _("The project is resumed."))
    return _back(project)


@require_POST
def begin_visit(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin a read-only visit to the console of the project."""
    project, operator = _find_project(request, pk), cast("User", request.user)
    if any(member.project == project for member in operator.sorted_memberships):
        messages.error(request, _("You are a member of this project: open it without a visit."))
        return _back(project)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason: the owners see it in their audit log."))
        return _back(project)
    visits.begin(
        request.session,
        project,
        form.cleaned_data["reason"],
        actor=operator,
        origin=operator_origin(request),
    )
    return redirect("services", project.project_id)


@require_POST
def end_visit(request: HttpRequest) -> HttpResponse:
    project = visits.end(
        request.session, actor=cast("User", request.user), origin=operator_origin(request)
    )
    return _back(project) if project else redirect("admin:index")


def _find_project(request: HttpRequest, pk: int) -> Project:
    """Return the project for an operator who may change projects. Raise Http404 for others."""
    operator = cast("User", request.user)
    rows = Project.objects.select_related("plan", "created_by")
    return get_object_or_404(rows if operator.has_perm(_PERMISSION) else rows.none(), pk=pk)


def _back(project: Project) -> HttpResponse:
    return redirect("admin:projects_project_overview", project.pk)


def _compute_raised_limit(usage: LimitUsage) -> int:
    return max(1, 2 * max(usage.allowed, usage.used or 0))


def _build_context(request: HttpRequest, project: Project, form: QuotaForm) -> dict[str, object]:
    rows = list_rejections(project.pk)
    usage = load_usage(project.pk)
    values = {limit.name: limit for limit in usage.limits}
    return {
        **admin.site.each_context(request),
        "title": project.name,
        "opts": Project._meta,
        "tenant": project,
        "rejections": [(row, _describe_raise(row, values)) for row in rows],
        "rejected_today": count_today(rows),
        "requests": list_open_requests(project),
        "limits": _limit_rows(project, usage.limits, form),
        "form": form,
        "bars": _day_bars(project),
        "bar_height": _BAR_HEIGHT,
        "members": members.list_members(project),
        "counts": _counts(project),
        "entries": AuditEntry.objects.filter(
            project=project, actor_kind=ActorKind.OPERATOR
        ).order_by("-at")[:_ENTRIES],
        "plan_form": PlanForm(initial={"plan": project.plan}),
        "reason_form": ReasonForm(auto_id="suspend_%s"),
        "visit_form": ReasonForm(auto_id="visit_%s"),
    }


def _describe_raise(row: RejectionRow, usage: dict[LimitName, LimitUsage]) -> str:
    """Return the amount to which a button raises the limit of a rejection; "" without one."""
    return (
        "" if row.limit is None else amount_text(row.limit, _compute_raised_limit(usage[row.limit]))
    )


def _limit_rows(
    project: Project, limits: tuple[LimitUsage, ...], form: QuotaForm
) -> list[LimitRow]:
    general = merge_quotas(list_general_rows(project.pk))
    return [
        LimitRow(
            usage=limit,
            general=amount_text(limit.name, general.get_limit(limit.name)),
            field=form[limit.name],
            percent=None if limit.share is None else 100 * limit.share,
        )
        for limit in limits
    ]


def _day_bars(project: Project) -> list[DayBar]:
    """Return a bar for each day of the history, the oldest first."""
    days = load_history(project.pk)
    most = max(row.profiles + row.rejected for row in days) or 1
    return [
        DayBar(
            row.day,
            row.profiles,
            row.rejected,
            height=round(_BAR_HEIGHT * row.profiles / most),
            rejected_height=round(_BAR_HEIGHT * row.rejected / most),
        )
        for row in days
    ]


def _counts(project: Project) -> dict[str, tuple[int, str]]:
    """Return numbers of rows, and the address of their list in the admin."""
    deployments = Deployment.objects.filter(project=project)
    hour = timezone.now() - timedelta(hours=1)
    running = Agent.objects.filter(deployment__project=project, last_seen__gte=hour)
    query = f"?q={project.project_id}"
    return {
        _("API keys in use"): (
            ApiKey.objects.filter(project=project, revoked=None).count(),
            reverse("admin:projects_apikey_changelist") + query,
        ),
        _("Deployments"): (
            deployments.count(),
            reverse("admin:projects_deployment_changelist") + query,
        ),
        _("Agents of the last hour"): (
            running.count(),
            reverse("admin:projects_agent_changelist") + query,
        ),
    }
