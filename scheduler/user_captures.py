"""Progress of captures that users request: stored when requested, claimed and uploaded."""

import secrets
from datetime import datetime

from django.utils import timezone

from projects.models import Project
from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest
from scheduler.models import UserCapture

_STORED = 100  # latest captures of a project; a page that shows an older one shows nothing


def note_request(project: Project, service: str, request: CaptureRequest) -> UserCapture:
    """Store a new capture request."""
    return _save(
        UserCapture(
            request=request.id,
            project=project,
            deployment=request.deployment,
            service=service,
            type=request.type,
            created=timezone.now(),
        )
    )


def note_rejected(project: Project, service: str, kind: ProfileType, rejection: str) -> UserCapture:
    """Store a capture that could not be requested; `rejection` is the reason, a sentence."""
    return _save(
        UserCapture(
            request=f"rejected-{secrets.token_urlsafe(9)}",
            project=project,
            service=service[:255],
            type=kind,
            created=timezone.now(),
            rejection=rejection[:500],
        )
    )


def note_claim(request: str, agent: int | None, name_id: str, now: datetime) -> None:
    """Store that an agent has claimed a request and may upload a profile with this name."""
    rows = UserCapture.objects.filter(request=request)
    rows.update(agent=agent, name_id=name_id, claimed=now)


def note_upload(capture: UserCapture) -> None:
    """Store that the profile of a capture has been found."""
    capture.is_uploaded = True
    capture.save(update_fields=["is_uploaded"])


def find(project: Project, request: str) -> UserCapture | None:
    """Return a capture of the project with its agent, None if it is unknown or too old."""
    rows = UserCapture.objects.select_related("agent__report")
    return rows.filter(project=project, request=request).first()


def erase_service(project: Project, service: str) -> None:
    """Delete the captures of a service."""
    UserCapture.objects.filter(project=project, service=service).delete()


def _save(capture: UserCapture) -> UserCapture:
    """Store a capture, and delete those of the project beyond the latest."""
    capture.save()
    captures = UserCapture.objects.filter(project=capture.project).order_by("-created", "-pk")
    oldest = captures.values_list("pk", flat=True)[_STORED:]
    UserCapture.objects.filter(pk__in=list(oldest)).delete()
    return capture
