"""Admin list of the audit log."""

from django.contrib import admin

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["at", "subject", "action", "actor", "actor_key", "detail"]
    list_select_related = ["actor"]
    list_filter = ["action", "at"]
    search_fields = ["subject", "actor__email", "actor_key"]
    ordering = ["-at"]
    show_full_result_count = False
