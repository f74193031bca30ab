"""Admin pages of plans: named sets of limits that projects share."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from projects import audit
from projects.admin.read_only import operator_origin
from projects.models import Plan, User
from projects.usage.limits import LimitName


@admin.register(Plan)
class PlanAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "description", "project_count", *LimitName]
    search_fields = ["name"]
    ordering = ["name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        rows: QuerySet[Plan] = super().get_queryset(request)
        return rows.annotate(_projects=Count("projects"))

    @admin.display(description=_("projects"), ordering="_projects")
    def project_count(self, plan: Any) -> int:
        return int(plan._projects)

    def save_model(
        self, request: HttpRequest, obj: Plan, form: "ModelForm[Plan]", change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        changes = {
            name: [form.initial.get(name), form.cleaned_data.get(name)]
            for name in sorted(form.changed_data)
        }
        if changes:
            audit.record(
                None,
                "plan.change",
                subject=obj.name,
                actor=cast("User", request.user),
                origin=operator_origin(request),
                target=obj.name,
                changes=changes,
            )
