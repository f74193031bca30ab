"""URLs of the flame page."""

from django.urls import reverse

from frontend.queries.params import PageParams
from projects.models import Project


def flame_url(project: Project, params: PageParams) -> str:
    """Return the URL of the flame page for the given page parameters."""
    return f"{reverse('flame', args=[project.project_id])}?{params.parameters()}"
