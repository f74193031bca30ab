"""Delete what a project stores about a service besides its profiles.

An app whose rows name services registers a function that deletes them; `erase_service` calls all.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl

from django.db import transaction

from projects import audit, saved_views
from projects.models import Annotation, ApiKey, Project, SavedView

ServiceEraser = Callable[[Project, str], None]
_erasers: list[ServiceEraser] = []


def register_eraser(eraser: ServiceEraser) -> None:
    """Let `erase_service` call a function with the project and the name of the service."""
    _erasers.append(eraser)


def erase_service(project: Project, service: str) -> None:
    """Delete the notes, saved views and defaults of API keys that name a service."""
    Annotation.objects.filter(project=project, service=service).delete()
    for view in SavedView.objects.filter(project=project):
        if service in {value for _, value in parse_qsl(view.query)}:
            saved_views.delete(view, origin=audit.SYSTEM)
    with transaction.atomic():
        for key in ApiKey.objects.filter(project=project, default_service=service):
            key.default_service = ""
            key.save(update_fields=["default_service"])
    for eraser in _erasers:
        eraser(project, service)
