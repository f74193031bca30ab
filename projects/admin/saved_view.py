"""Admin list of saved views."""

from django.contrib import admin

from projects import saved_views
from projects.admin.read_only import DeletableAdmin
from projects.audit import Origin
from projects.models import SavedView, User


@admin.register(SavedView)
class SavedViewAdmin(DeletableAdmin):
    list_display = ["name", "project", "page", "created", "created_by"]
    list_select_related = ["project", "created_by"]
    list_filter = ["page", "created"]
    search_fields = ["name", "project__project_id", "project__name"]
    ordering = ["-created"]
    show_full_result_count = False

    def delete_row(self, row: SavedView, actor: User, origin: Origin) -> None:
        saved_views.delete(row, actor=actor, origin=origin)
