"""The project of a selection, by the id that people see."""

from profiles.queries.asked import Selection
from projects.models import Project


def project_id_of(selection: Selection) -> str:
    return Project.objects.values_list("project_id", flat=True).get(pk=selection.project)
