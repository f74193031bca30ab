"""Delete what a project stores about a service, or about deleted profiles, besides the profiles.

An app whose rows name services registers a function that deletes them; `erase_service` calls all.
An app whose rows are made of profiles registers one that `erase_range` calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from django.db import transaction

from projects import audit, saved_views
from projects.models import Annotation, ApiKey, Project, SavedView
from projects.webhooks import deliveries

ServiceEraser = Callable[[Project, str], None]
_erasers: list[ServiceEraser] = []


@dataclass(frozen=True, slots=True)
class ErasedRange:
    """Profiles that were deleted; an empty service or type stands for all of them."""

    project: int
    service: str
    type: str
    start: datetime | None  # start <= time < end
    end: datetime


RangeEraser = Callable[[ErasedRange], None]
_range_erasers: list[RangeEraser] = []


def register_eraser(eraser: ServiceEraser) -> None:
    """Let `erase_service` call a function with the project and the name of the service."""
    _erasers.append(eraser)


def register_range_eraser(eraser: RangeEraser) -> None:
    """Let `erase_range` call a function."""
    _range_erasers.append(eraser)


def erase_range(erased: ErasedRange) -> None:
    """Delete what was made of the profiles of a range, and would tell of deleted ones."""
    deliveries.delete_messages(erased.project, erased.service, erased.start)
    for eraser in _range_erasers:
        eraser(erased)


def erase_service(project: Project, service: str) -> None:
    """Delete the notes, saved views, messages and defaults of API keys that name a service."""
    deliveries.delete_messages(project.pk, service)
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
