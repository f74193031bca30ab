"""Admin pages of projects, with members, quotas and today's usage."""

from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from common.amounts import bytes_text
from projects import account_limits, audit
from projects.admin.limits_beside_use import explain
from projects.admin.quota_form import QuotaForm, record_changes
from projects.admin.read_only import operator_origin
from projects.admin.tenant_page import tenant_urls
from projects.admin.usage_columns import usage_columns
from projects.members import LastOwner
from projects.models import Member, Project, Quota, Role, User


class MemberFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    def add_fields(self, form: "ModelForm[Member]", index: int | None) -> None:
        """Add labels to the inputs: the table has them in its head only, for people who see it."""
        super().add_fields(form, index)
        for field in form.fields.values():
            field.widget.attrs["aria-label"] = field.label

    def clean(self) -> None:
        """Enforce the limits of members of the project, and of projects of each new owner.

        A project that has an owner keeps one.
        """
        super().clean()
        if any(self.errors):
            return
        retained = [
            form for form in self.forms if form.cleaned_data and form not in self.deleted_forms
        ]
        try:
            self._require_limits(retained)
        except account_limits.LimitReached as reached:
            raise ValidationError(str(reached)) from reached
        self._require_owner(retained)

    def _require_owner(self, retained: "list[ModelForm[Member]]") -> None:
        account_limits.lock_project(self.instance)
        listed = [form.instance.pk for form in self.forms if form.instance.pk]
        owners = Member.objects.filter(project=self.instance.pk, role=Role.OWNER)
        if not owners or owners.exclude(pk__in=listed):
            return
        if all(form.cleaned_data["role"] != Role.OWNER for form in retained):
            raise ValidationError(str(LastOwner(self.instance)))

    def _require_limits(self, retained: "list[ModelForm[Member]]") -> None:
        new = sum(form.instance.pk is None for form in retained)
        account_limits.require_members(self.instance, new - len(self.deleted_forms))
        owners = [
            form.cleaned_data["user"]
            for form in retained
            if form.cleaned_data["role"] == Role.OWNER and {"role", "user"} & {*form.changed_data}
        ]
        # By primary key: two requests that lock the same accounts in different orders would wait
        # for each other.
        for owner in sorted(owners, key=lambda user: user.pk):
            account_limits.require_project(owner)


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Member
    formset = MemberFormSet
    extra = 0
    autocomplete_fields = ["user"]


class QuotaInline(admin.StackedInline):  # type: ignore[type-arg]
    model = Quota
    form = QuotaForm
    verbose_name_plural = _("quota")

    def get_formset(
        self, request: HttpRequest, obj: Project | None = None, **kwargs: Any
    ) -> "type[BaseInlineFormSet[Quota, Project, Any]]":
        formset = super().get_formset(request, obj, **kwargs)
        explain(formset.form.base_fields, obj)
        return formset


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = [
        *("project_id", "name", "overview", "plan", "suspended"),
        *("profiles_today", "rejected_today", "stored", "created"),
    ]
    list_select_related = ["plan"]
    list_filter = ["plan", ("suspended", admin.EmptyFieldListFilter)]
    search_fields = ["project_id", "name", "members__user__email"]
    ordering = ["project_id"]
    exclude = ["plan"]  # changed on the tenant page
    readonly_fields = ["created", "created_by"]
    inlines = [MemberInline, QuotaInline]

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        """Return False: a project is deleted by a job, which the page *Deletions* requests."""
        return False

    def get_urls(self) -> list[URLPattern]:
        return [*tenant_urls(self.admin_site.admin_view), *super().get_urls()]

    @admin.display(description=_("tenant page"))
    def overview(self, project: Project) -> SafeString:
        address = reverse("admin:projects_project_overview", args=[project.pk])
        return format_html('<a href="{}">{}</a>', address, _("Open"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        rows: QuerySet[Project] = super().get_queryset(request)
        return rows.annotate(**usage_columns())

    @admin.display(description=_("profiles today"), ordering="profiles")
    def profiles_today(self, project: Any) -> int:
        return int(project.profiles)

    @admin.display(description=_("rejected today"), ordering="rejected")
    def rejected_today(self, project: Any) -> int:
        return int(project.rejected)

    @admin.display(description=_("stored"), ordering="stored")
    def stored(self, project: Any) -> str:
        return bytes_text(project.stored)

    def save_formset(
        self,
        request: HttpRequest,
        form: "ModelForm[Project]",
        formset: "BaseInlineFormSet[Any, Project, Any]",
        change: bool,
    ) -> None:
        super().save_formset(request, form, formset, change)
        if formset.model is Member:
            _record_members(request, form.instance, formset)
        if formset.model is Quota:
            for each in formset.forms:
                record_changes(request, form.instance, cast("QuotaForm", each))

    def log_addition(self, request: HttpRequest, obj: Project, message: Any) -> Any:
        _record(request, obj, "project.create", name=obj.name)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Project, message: Any) -> Any:
        _record(request, obj, "project.change", changes=message)
        return super().log_change(request, obj, message)


def _record_members(
    request: HttpRequest, project: Project, formset: "BaseInlineFormSet[Any, Project, Any]"
) -> None:
    """Add an entry for each member that the admin's form added, changed or removed."""
    for member in formset.new_objects:
        _record(request, project, "member.add", target=member.user.email, role=member.role)
    for member, _fields in formset.changed_objects:
        _record(request, project, "member.role", target=member.user.email, role=member.role)
    for member in formset.deleted_objects:
        _record(request, project, "member.remove", target=member.user.email)


def _record(
    request: HttpRequest, project: Project, action: str, target: str = "", **detail: Any
) -> None:
    audit.record(
        project,
        action,
        actor=cast("User", request.user),
        origin=operator_origin(request),
        target=target or project.name,
        **detail,
    )
