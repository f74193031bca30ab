"""Admin list of rejected requests, by project, day and reason."""

from django.contrib import admin

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import DayRejections


@admin.register(DayRejections)
class DayRejectionsAdmin(ReadOnlyAdmin):
    list_display = ["day", "project", "reason", "count"]
    list_select_related = ["project"]
    list_filter = ["reason", "day"]
    search_fields = ["project__project_id", "project__name"]
    ordering = ["-day", "-count"]
    show_full_result_count = False
