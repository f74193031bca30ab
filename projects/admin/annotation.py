"""Admin list of annotations, the notes of members and API keys."""

from django.contrib import admin

from projects import annotations
from projects.admin.read_only import DeletableAdmin
from projects.audit import Origin
from projects.models import Annotation, User


@admin.register(Annotation)
class AnnotationAdmin(DeletableAdmin):
    list_display = ["__str__", "project", "service", "version", "at", "created", "created_by"]
    list_select_related = ["project", "created_by"]
    list_filter = ["created"]
    search_fields = ["text", "service", "project__project_id", "project__name"]
    ordering = ["-created"]
    show_full_result_count = False

    def delete_row(self, row: Annotation, actor: User, origin: Origin) -> None:
        annotations.delete(row, actor=actor, origin=origin)
