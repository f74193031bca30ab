"""Admin list of deployments, as agents registered them."""

from django.contrib import admin

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import Deployment


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    list_display = ["service", "zone", "version", "language", "project", "profiled", "last_seen"]
    list_select_related = ["project"]
    list_filter = ["language", "last_seen"]
    search_fields = ["service", "version", "zone", "project__project_id"]
    ordering = ["-last_seen"]
    show_full_result_count = False
