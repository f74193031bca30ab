"""Template tags for forms that upload files."""

from django import template
from django.conf import settings

from common.amounts import bytes_text
from projects.models import Project

register = template.Library()
register.filter("bytes", bytes_text)


@register.simple_tag
def import_path(project: Project) -> str:
    """Return the path of the endpoint that imports files (docs/reference/api.md)."""
    return f"/api/v1/projects/{project.project_id}/profiles:import"


@register.simple_tag
def upload_limit() -> int:
    """Return FLAMEWATCH_MAX_UPLOAD_BYTES."""
    return int(settings.MAX_UPLOAD_BYTES)
