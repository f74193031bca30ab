"""Addresses of the flame page."""

from django.urls import reverse

from frontend.selection import Asked
from projects.models import Project


def flame_url(project: Project, asked: Asked) -> str:
    """The page that shows this."""
    return f"{reverse('flame', args=[project.project_id])}?{asked.parameters()}"
