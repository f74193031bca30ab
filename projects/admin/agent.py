"""Admin list of agents, as they registered themselves."""

from django.contrib import admin

from projects.admin.read_only import ReadOnlyAdmin
from projects.models import Agent


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "deployment", "user_agent", "types", "first_seen", "last_seen"]
    list_select_related = ["deployment"]
    list_filter = ["last_seen"]
    search_fields = [
        *("hostname", "identity", "deployment__service"),
        "deployment__project__project_id",
    ]
    ordering = ["-last_seen"]
    show_full_result_count = False
