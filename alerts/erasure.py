"""Delete what alerts store about a service."""

from alerts.models import AlertIncident, AlertRule, AlertState
from projects.models import Project


def erase_service(project: Project, service: str) -> None:
    """Delete the rules of the service, and what rules of all services noted about it."""
    AlertRule.objects.filter(project=project, service=service).delete()
    AlertState.objects.filter(rule__project=project, service=service).delete()
    AlertIncident.objects.filter(rule__project=project, service=service).delete()
