"""Read-only admin for rows that the server writes; they are deleted with their project."""

from django.contrib import admin
from django.http import HttpRequest

from projects.models import Agent, ApiKey, AuditEntry, DayRejections, Deployment

_DELETING_A_PROJECT = {"projects_project_delete", "projects_project_changelist"}

Row = Agent | ApiKey | AuditEntry | DayRejections | Deployment


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        """Allow deletion only as part of a project's deletion.

        Django asks for this permission for every object that the project's deletion would delete
        too.
        """
        page = request.resolver_match.url_name if request.resolver_match else ""
        return page in _DELETING_A_PROJECT and super().has_delete_permission(request, obj)
