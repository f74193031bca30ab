"""Admin list of deployments, as agents registered them."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.utils.translation import gettext

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import Deployment


class LanguageFilter(admin.AllValuesFieldListFilter):
    """Languages of deployments, with a text for those that named none."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or gettext("(not named)")}


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    list_display = ["service", "zone", "version", "language", "project", "profiled", "last_seen"]
    list_select_related = ["project"]
    list_filter = [("language", LanguageFilter), "last_seen"]
    search_fields = ["service", "version", "zone", "project__project_id"]
    ordering = ["-last_seen"]
    show_full_result_count = False
