"""Admin list of the audit log."""

from django.contrib import admin

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = [
        *("at", "subject", "action", "target", "actor_kind", "actor_name", "actor_key"),
        *("address", "detail"),
    ]
    list_filter = ["actor_kind", "at"]
    search_fields = ["subject", "project_name", "action", "target", "actor_name", "actor_key"]
    ordering = ["-pk"]  # the order of their times, by an index
    show_full_result_count = False
