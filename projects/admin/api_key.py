"""Admin list of API keys, with an action to revoke them.

Keys are created in a project's settings, where their text is shown once.
"""

from typing import cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from projects.admin.read_only import ReadOnlyAdmin, operator_origin
from projects.credentials import keys
from projects.models import ApiKey, User


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = [
        *("prefix", "name", "project", "may_write", "may_read", "services"),
        *("expires", "last_used", "last_address", "revoked"),
    ]
    list_select_related = ["project"]
    list_filter = ["may_write", "may_read", "revoked"]
    search_fields = ["key_id", "name", "project__project_id"]
    ordering = ["-created"]
    exclude = ["secret_hash"]
    actions = ["revoke"]

    @admin.action(description=_("Revoke the selected keys"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        in_use = list(queryset.filter(revoked=None).select_related("project"))
        for row in in_use:
            keys.revoke(row, actor=cast("User", request.user), origin=operator_origin(request))
        message = ngettext("%(n)d key was revoked.", "%(n)d keys were revoked.", len(in_use))
        messages.success(request, message % {"n": len(in_use)})

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return cast("User", request.user).has_perm("projects.change_apikey")
