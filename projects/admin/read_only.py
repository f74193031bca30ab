"""Read-only admin for rows that the server or members of projects write."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from projects.audit import Origin
from projects.models import ActorKind, User


def operator_origin(request: HttpRequest) -> Origin:
    """Return the origin of what is done in the admin, for the audit log."""
    return Origin.from_request(request, ActorKind.OPERATOR)


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Admin for rows that the server writes; deletion jobs delete them with their project."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class DeletableAdmin(ReadOnlyAdmin):
    """Admin for rows that members of projects write; the operator may delete them."""

    def delete_row(self, row: Any, actor: User, origin: Origin) -> None:
        """Delete a row as the console does, with an entry in the audit log."""
        raise NotImplementedError

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self.delete_row(obj, cast("User", request.user), operator_origin(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset.select_related("project"):
            self.delete_model(request, row)
