"""Addresses of the flame page."""

from django.urls import reverse

from frontend.queries.params import PageParams
from projects.models import Project


def flame_url(project: Project, asked: PageParams) -> str:
    """The page that shows this."""
    return f"{reverse('flame', args=[project.project_id])}?{asked.parameters()}"
