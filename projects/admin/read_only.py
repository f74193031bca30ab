"""Rows that the server writes: they can be read here, and go with their project."""

from django.contrib import admin
from django.http import HttpRequest

from projects.models import Agent, ApiKey, AuditEntry, Deployment

_DELETING_A_PROJECT = {"projects_project_delete", "projects_project_changelist"}

Row = Agent | ApiKey | AuditEntry | Deployment


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        """Not by themselves. Django asks this also about all that a project's deletion takes."""
        page = request.resolver_match.url_name if request.resolver_match else ""
        return page in _DELETING_A_PROJECT and super().has_delete_permission(request, obj)
