"""Admin pages of snapshots, deletions and exports; the operator requests deletions here."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.amounts import bytes_text
from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionRejected, DeletionSelection
from profiles.models import (
    DeletionJob,
    DeletionScope,
    ExportJob,
    ExportState,
    ResultSnapshot,
)
from profiles.project_export import jobs as exports
from profiles.project_export.jobs import ExportRejected
from profiles.storage import saved_tree_rows
from projects.admin.background_jobs import MAX_SHOWN, JobRow, add_job_source
from projects.admin.read_only import DeletableAdmin, ReadOnlyAdmin, operator_origin
from projects.audit import Origin
from projects.models import User


@admin.register(ResultSnapshot)
class ResultSnapshotAdmin(DeletableAdmin):
    list_display = ["title", "project", "kind", "service", "type", "size", "created", "created_by"]
    list_select_related = ["project", "created_by", "blob"]
    list_filter = ["kind", "created"]
    search_fields = ["title", "service", "project__project_id", "project__name"]
    ordering = ["-created"]
    show_full_result_count = False
    fields = [
        *("title", "project", "kind", "service", "type", "start", "end", "query", "profiles"),
        *("left_out", "size", "created", "created_by"),
    ]

    @admin.display(description=_("size"), ordering="blob__size")
    def size(self, snapshot: ResultSnapshot) -> str:
        return bytes_text(snapshot.blob.size)

    def delete_row(self, row: ResultSnapshot, actor: User, origin: Origin) -> None:
        saved_tree_rows.delete(row, actor=actor, origin=origin)


# Failed exports are shown on the start page for so long.
_FAILED_SHOWN = timedelta(days=7)


class DeletionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Deletion of a project, or of the profiles that the other fields select."""

    project_id = forms.CharField(
        label=_("Project ID"), help_text=_("Type the ID of the project to confirm."), max_length=30
    )

    class Meta:
        model = DeletionJob
        fields = ["project", "scope", "service", "type", "zone", "version", "start", "end"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("start", "end"):  # two inputs each, which have no labels
            for widget in self.fields[name].widget.widgets:
                widget.attrs["aria-label"] = self.fields[name].label

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        project, scope = cleaned.get("project"), cleaned.get("scope")
        if project is None or scope is None:
            return cleaned
        if cleaned.get("project_id", "").strip() != project.project_id:
            self.add_error("project_id", gettext("This is not the ID of the project."))
        if scope == DeletionScope.SERVICE and not self.selection.is_service:
            self.add_error("service", gettext("Enter a service, and nothing else."))
        try:
            jobs.require_possible(project, DeletionScope(scope))
        except DeletionRejected as rejected:
            self.add_error(None, str(rejected))
        return cleaned

    @property
    def selection(self) -> DeletionSelection:
        chosen = self.cleaned_data
        return DeletionSelection(
            service=chosen.get("service") or "",
            type=chosen.get("type") or "",
            zone=chosen.get("zone"),
            version=chosen.get("version"),
            start=chosen.get("start"),
            end=chosen.get("end"),
        )


@admin.register(DeletionJob)
class DeletionJobAdmin(ReadOnlyAdmin):
    list_display = [
        *("project", "scope", "state", "requested", "requested_by", "due", "finished"),
        *("profiles", "bytes", "problem"),
    ]
    list_select_related = ["project", "requested_by"]
    list_filter = ["state", "scope"]
    search_fields = ["project__project_id", "project__name"]
    ordering = ["-requested"]
    show_full_result_count = False
    autocomplete_fields = ["project"]
    actions = ["cancel_deletions"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def get_form(
        self, request: HttpRequest, obj: DeletionJob | None = None, change: bool = False, **kw: Any
    ) -> "type[forms.ModelForm[DeletionJob]]":
        if obj is None:
            kw["form"] = DeletionForm
            kw["fields"] = [*DeletionForm.Meta.fields, "project_id"]
        return super().get_form(request, obj, change, **kw)

    def get_fields(self, request: HttpRequest, obj: DeletionJob | None = None) -> Any:
        if obj is None:
            return [*DeletionForm.Meta.fields, "project_id"]
        return [*DeletionForm.Meta.fields, *self.list_display[2:]]

    def save_model(self, request: HttpRequest, obj: DeletionJob, form: Any, change: bool) -> None:
        actor, origin = cast("User", request.user), operator_origin(request)
        if obj.scope == DeletionScope.PROJECT:
            job = jobs.request_project_deletion(obj.project, actor=actor, origin=origin)
        else:
            job = jobs.request_deletion(obj.project, form.selection, actor=actor, origin=origin)
        obj.pk = job.pk
        obj.refresh_from_db()

    @admin.action(description=_("Cancel deletions, restore projects"), permissions=["add"])
    def cancel_deletions(self, request: HttpRequest, queryset: QuerySet[DeletionJob]) -> None:
        _cancel_each(self, request, queryset, jobs.cancel, DeletionRejected)


@admin.register(ExportJob)
class ExportJobAdmin(ReadOnlyAdmin):
    list_display = [
        *("project", "state", "requested", "requested_by", "finished", "expires"),
        *("profiles", "bytes", "problem"),
    ]
    list_select_related = ["project", "requested_by"]
    list_filter = ["state"]
    search_fields = ["project__project_id", "project__name"]
    ordering = ["-requested"]
    show_full_result_count = False
    fields = [
        *("project", "state", "requested", "requested_by", "finished", "expires"),
        *("profiles", "bytes", "problem"),
    ]
    actions = ["cancel_exports"]

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return cast("User", request.user).has_perm("profiles.change_exportjob")

    @admin.action(description=_("Cancel exports"), permissions=["cancel"])
    def cancel_exports(self, request: HttpRequest, queryset: QuerySet[ExportJob]) -> None:
        _cancel_each(self, request, queryset, exports.cancel, ExportRejected)


def _cancel_each(
    page: ReadOnlyAdmin,
    request: HttpRequest,
    rows: QuerySet[Any],
    cancel: Callable[..., None],
    rejection: type[Exception],
) -> None:
    """Cancel each job, and tell the operator which were canceled, and why others were not."""
    actor, origin = cast("User", request.user), operator_origin(request)
    for job in rows.select_related("project"):
        try:
            cancel(job, actor=actor, origin=origin)
        except rejection as rejected:
            page.message_user(request, f"{job}: {rejected}", messages.WARNING)
        else:
            page.message_user(request, f"{job}: {gettext('canceled')}")


def _list_deletions() -> list[JobRow]:
    """Return deletions that have begun or are due: not those within their grace period."""
    rows = DeletionJob.objects.filter(state__in=jobs.OPEN_STATES, due__lte=timezone.now())
    return [
        JobRow(
            project=job.project,
            kind=f"{gettext('Deletion')}: {job.get_scope_display()}",
            state=job.get_state_display(),
            progress=gettext("%(done)s of %(expected)s profiles")
            % {"done": f"{job.profiles:,}", "expected": f"{job.expected_profiles:,}"},
            problem=job.problem,
            requested=job.requested,
            url=reverse("admin:profiles_deletionjob_change", args=[job.pk]),
        )
        for job in rows.select_related("project").order_by("requested", "pk")[:MAX_SHOWN]
    ]


def _list_exports() -> list[JobRow]:
    """Return exports that run or wait, and those that failed lately."""
    failed = Q(state=ExportState.FAILED, finished__gt=timezone.now() - _FAILED_SHOWN)
    rows = ExportJob.objects.filter(Q(state__in=exports.OPEN_STATES) | failed)
    return [
        JobRow(
            project=job.project,
            kind=gettext("Export"),
            state=job.get_state_display(),
            progress=gettext("%(profiles)s profiles, %(bytes)s")
            % {"profiles": f"{job.profiles:,}", "bytes": bytes_text(job.bytes)},
            problem=job.problem,
            requested=job.requested,
            url=reverse("admin:profiles_exportjob_change", args=[job.pk]),
        )
        for job in rows.select_related("project").order_by("requested", "pk")[:MAX_SHOWN]
    ]


add_job_source(_list_deletions)
add_job_source(_list_exports)
