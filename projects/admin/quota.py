"""Admin pages of quotas: the row of defaults, and the overrides of single projects."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import F, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from projects.admin.limits_beside_use import explain
from projects.admin.quota_form import QuotaForm, record_changes
from projects.models import Quota
from projects.usage.limits import LimitName


@admin.register(Quota)
class QuotaAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = QuotaForm
    list_display = ["__str__", *LimitName]
    list_select_related = ["project"]
    search_fields = ["project__project_id", "project__name"]
    autocomplete_fields = ["project"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Quota]:
        """Return the quotas, with the row of defaults first."""
        rows = super().get_queryset(request)
        return rows.order_by(F("project__project_id").asc(nulls_first=True))

    def get_readonly_fields(self, request: HttpRequest, obj: Quota | None = None) -> list[str]:
        """Make `project` read-only in existing rows.

        Otherwise the row of defaults could be assigned to one project by mistake.
        """
        return ["project"] if obj else []

    def get_form(
        self, request: HttpRequest, obj: Quota | None = None, change: bool = False, **kwargs: Any
    ) -> "type[ModelForm[Quota]]":
        form = super().get_form(request, obj, change, **kwargs)
        explain(form.base_fields, obj.project if obj else None)
        return form

    def save_model(
        self, request: HttpRequest, obj: Quota, form: "ModelForm[Quota]", change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        record_changes(request, obj.project, cast("QuotaForm", form))
