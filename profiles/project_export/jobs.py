"""Export jobs of a project: request, cancel, list, download and expire them."""

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from profiles.models import Blob, ExportJob, ExportPart, ExportState
from profiles.storage.blob_store import blobs
from projects import audit
from projects.account_limits import lock_project
from projects.models import Project, User

__all__ = [
    "OPEN_STATES",
    "ExportJob",
    "ExportRejected",
    "build_file_name",
    "cancel",
    "discard",
    "discard_all",
    "download",
    "expire",
    "find",
    "find_open",
    "list_exports",
    "request_export",
]

LISTED = 20  # latest jobs on the page
OPEN_STATES = (ExportState.PENDING, ExportState.RUNNING)


class ExportRejected(Exception):
    """Export that cannot be requested, canceled or downloaded; the text gives the reason."""


def request_export(
    project: Project, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT
) -> ExportJob:
    """Request an export of everything until now. Raise ExportRejected while another one runs."""
    with transaction.atomic():
        lock_project(project)
        if ExportJob.objects.filter(project=project, state__in=OPEN_STATES).exists():
            raise ExportRejected(_("An export of this project is running. Wait for it."))
        audit.record(project, "export.request", actor=actor, origin=origin, target=project.name)
        return ExportJob.objects.create(
            project=project, requested=timezone.now(), requested_by=actor
        )


def cancel(job: ExportJob, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT) -> None:
    """Cancel a running export. Raise ExportRejected if it has ended."""
    with transaction.atomic():
        if not discard(job, ExportState.CANCELED, OPEN_STATES):
            raise ExportRejected(_("This export has ended."))
        audit.record(
            job.project, "export.cancel", actor=actor, origin=origin, target=job.project.name
        )


def find(project: Project, pk: int) -> ExportJob | None:
    """Return a job of this project; None if it has none with this primary key."""
    return ExportJob.objects.select_related("project").filter(project=project, pk=pk).first()


def list_exports(project: Project) -> list[ExportJob]:
    """Return the latest jobs of a project, newest first."""
    rows = ExportJob.objects.filter(project=project).select_related("requested_by")
    return list(rows.order_by("-requested", "-pk")[:LISTED])


def download(
    job: ExportJob, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT
) -> Iterator[bytes]:
    """Return the archive in parts, and record the download.

    Raise ExportRejected if the archive is not complete, or was deleted.
    """
    if job.state != ExportState.DONE:
        raise ExportRejected(_("This export has no file."))
    audit.record(
        job.project,
        "export.download",
        actor=actor,
        origin=origin,
        target=job.project.name,
        bytes=job.bytes,
    )
    keys = list(job.parts.order_by("number").values_list("blob__key", flat=True))
    return (blobs().get(key) for key in keys)


def build_file_name(job: ExportJob) -> str:
    return f"{job.project.project_id}-{job.requested:%Y%m%d-%H%M}.tar"


def discard(job: ExportJob, state: ExportState, before: tuple[ExportState, ...]) -> bool:
    """Delete the archive of a job that is in one of the states `before`, and set its state.

    The sweep deletes its blobs half an hour later, which a download may still read.
    """
    with transaction.atomic():
        jobs = ExportJob.objects.filter(pk=job.pk, state__in=before)
        if not jobs.update(state=state, finished=timezone.now()):
            return False
        parts = ExportPart.objects.filter(job=job)
        Blob.objects.filter(pk__in=list(parts.values_list("blob", flat=True))).update(
            dead_since=timezone.now()
        )
        parts.delete()
        return True


def discard_all(project: int) -> None:
    """Delete the archives of a project (its pk) and cancel its running exports."""
    for job in ExportJob.objects.filter(project=project, state__in=OPEN_STATES):
        discard(job, ExportState.CANCELED, OPEN_STATES)
    for job in ExportJob.objects.filter(project=project, state=ExportState.DONE):
        discard(job, ExportState.EXPIRED, (ExportState.DONE,))


def expire(now: datetime) -> None:
    """Delete the archives whose time has passed."""
    for job in ExportJob.objects.filter(state=ExportState.DONE, expires__lte=now):
        discard(job, ExportState.EXPIRED, (ExportState.DONE,))


def find_open() -> list[int]:
    """Return ExportJob.pk of the jobs that have not ended, oldest first."""
    rows = ExportJob.objects.filter(state__in=OPEN_STATES)
    return list(rows.order_by("requested", "pk").values_list("pk", flat=True))
