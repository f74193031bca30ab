"""Admin list of snapshots."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from common.amounts import bytes_text
from profiles.models import ResultSnapshot
from profiles.storage import saved_tree_rows
from projects.admin.read_only import DeletableAdmin
from projects.audit import Origin
from projects.models import User


@admin.register(ResultSnapshot)
class ResultSnapshotAdmin(DeletableAdmin):
    list_display = ["title", "project", "kind", "service", "type", "size", "created", "created_by"]
    list_select_related = ["project", "created_by", "blob"]
    list_filter = ["kind", "created"]
    search_fields = ["title", "service", "project__project_id", "project__name"]
    ordering = ["-created"]
    show_full_result_count = False
    fields = [
        *("title", "project", "kind", "service", "type", "start", "end", "query", "profiles"),
        *("left_out", "size", "created", "created_by"),
    ]

    @admin.display(description=_("size"), ordering="blob__size")
    def size(self, snapshot: ResultSnapshot) -> str:
        return bytes_text(snapshot.blob.size)

    def delete_row(self, row: ResultSnapshot, actor: User, origin: Origin) -> None:
        saved_tree_rows.delete(row, actor=actor, origin=origin)
