"""Deletion jobs of a project: request, cancel, restore and list them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from profiles.deletion.selection import DeletionSelection, SelectedRows
from profiles.models import DeletionJob, DeletionScope, DeletionState
from projects import audit
from projects.account_limits import lock_project
from projects.credentials import authentication
from projects.models import ApiKey, AuditEntry, Member, Project, Role, User

__all__ = [
    "DeletionRejected",
    "DeletionSelection",
    "ListedDeletion",
    "cancel",
    "count_profiles",
    "find",
    "list_deletions",
    "list_hidden_projects",
    "request_deletion",
    "request_project_deletion",
    "require_possible",
    "restore_project",
]

# Time in which a person can cancel the deletion of a selection or a service.
CANCEL_PERIOD = timedelta(minutes=5)
MAX_OPEN_JOBS = 20  # of a project
LISTED = 50  # latest jobs on the page
OPEN_STATES = (DeletionState.PENDING, DeletionState.DELETING, DeletionState.ERASING)


class DeletionRejected(Exception):
    """Deletion that cannot be requested, canceled or undone; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class ListedDeletion:
    """Job with the description of what it deletes, which the audit log keeps."""

    job: DeletionJob
    target: str

    @property
    def is_open(self) -> bool:
        return self.job.state in OPEN_STATES

    @property
    def may_cancel(self) -> bool:
        return self.job.state == DeletionState.PENDING

    @property
    def percent(self) -> int:
        """Return the progress of deleting the rows, 0 to 100."""
        if self.job.state == DeletionState.PENDING:
            return 0
        if self.job.state != DeletionState.DELETING or not self.job.expected_profiles:
            return 100
        return min(100, self.job.profiles * 100 // self.job.expected_profiles)


def require_possible(project: Project, scope: DeletionScope) -> None:
    """Raise DeletionRejected if such a deletion cannot be requested now."""
    if scope == DeletionScope.PROJECT:
        if project.deletion_due is not None:
            raise DeletionRejected(_("The deletion of this project was requested already."))
        return
    count = DeletionJob.objects.filter(project=project, state__in=OPEN_STATES).count()
    if count >= MAX_OPEN_JOBS:
        raise DeletionRejected(
            _("%(count)d deletions of this project are not finished. Wait for one of them.")
            % {"count": count}
        )


def request_deletion(
    project: Project,
    selection: DeletionSelection,
    *,
    actor: User | None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> DeletionJob:
    """Request the deletion of a selection, which starts after CANCEL_PERIOD.

    Raise DeletionRejected if the project has MAX_OPEN_JOBS.
    """
    scope = DeletionScope.SERVICE if selection.is_service else DeletionScope.SELECTION
    with transaction.atomic():
        lock_project(project)
        require_possible(project, scope)
        now = timezone.now()
        target = selection.describe()
        entry = audit.record(
            project,
            "deletion.request",
            actor=actor,
            origin=origin,
            target=target,
            scope=str(scope),
            due=(now + CANCEL_PERIOD).isoformat(),
        )
        return DeletionJob.objects.create(
            project=project,
            scope=scope,
            service=selection.service,
            type=selection.type,
            zone=selection.zone,
            version=selection.version,
            start=selection.start,
            end=selection.end,
            requested=now,
            requested_by=actor,
            request_entry=entry.pk,
            due=now + CANCEL_PERIOD,
        )


def request_project_deletion(
    project: Project, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT
) -> DeletionJob:
    """Hide a project at once, and delete it after settings.PROJECT_DELETION_DAYS.

    Raise DeletionRejected if that was requested already.
    """
    with transaction.atomic():
        lock_project(project)
        project.refresh_from_db()
        require_possible(project, DeletionScope.PROJECT)
        now = timezone.now()
        project.deletion_due = now + timedelta(days=settings.PROJECT_DELETION_DAYS)
        project.save(update_fields=["deletion_due"])
        entry = audit.record(
            project,
            "deletion.request",
            actor=actor,
            origin=origin,
            target=project.name,
            scope=str(DeletionScope.PROJECT),
            due=project.deletion_due.isoformat(),
        )
        _forget_keys(project)
        return DeletionJob.objects.create(
            project=project,
            scope=DeletionScope.PROJECT,
            requested=now,
            requested_by=actor,
            request_entry=entry.pk,
            due=project.deletion_due,
        )


def cancel(job: DeletionJob, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT) -> None:
    """Cancel a job before it starts; that of a project also restores the project.

    Raise DeletionRejected if it has started, or was canceled.
    """
    with transaction.atomic():
        lock_project(job.project)
        pending = DeletionJob.objects.filter(pk=job.pk, state=DeletionState.PENDING)
        if not pending.update(state=DeletionState.CANCELED, finished=timezone.now()):
            raise DeletionRejected(_("This deletion has started, and cannot be canceled."))
        is_project = job.scope == DeletionScope.PROJECT
        audit.record(
            job.project,
            "project.restore" if is_project else "deletion.cancel",
            actor=actor,
            origin=origin,
            target=job.project.name if is_project else describe(job),
        )
        if is_project:
            Project.objects.filter(pk=job.project_id).update(deletion_due=None)
            _forget_keys(job.project)


def restore_project(
    project: Project, *, actor: User | None, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    """Show a project again whose deletion was requested. Raise DeletionRejected if it is late."""
    rows = DeletionJob.objects.filter(project=project, scope=DeletionScope.PROJECT)
    job = rows.filter(state__in=OPEN_STATES).select_related("project").first()
    if job is None:
        raise DeletionRejected(_("The deletion of this project was not requested."))
    cancel(job, actor=actor, origin=origin)


def find(project: Project, pk: int) -> DeletionJob | None:
    """Return a job of this project; None if it has none with this primary key."""
    return DeletionJob.objects.select_related("project").filter(project=project, pk=pk).first()


def count_profiles(project: Project, selection: DeletionSelection) -> int:
    """Count the profiles of a selection; those of blocks at its borders may count in whole."""
    return SelectedRows(project.pk, selection).count()


def list_deletions(project: Project) -> list[ListedDeletion]:
    """Return the latest jobs of a project, newest first."""
    rows = DeletionJob.objects.filter(project=project).select_related("requested_by")
    jobs = list(rows.order_by("-requested", "-pk")[:LISTED])
    entries = AuditEntry.objects.in_bulk([job.request_entry for job in jobs])
    return [
        ListedDeletion(job, entries[job.request_entry].target)
        if job.request_entry in entries
        else ListedDeletion(job, "")
        for job in jobs
    ]


def list_hidden_projects(owner: User) -> list[Project]:
    """Return the projects that an account owns and that will be deleted, the next one first."""
    owned = Member.objects.filter(user=owner, role=Role.OWNER, project__deletion_due__isnull=False)
    members = owned.select_related("project").order_by("project__deletion_due", "project__pk")
    return [member.project for member in members]


def find_due(now: datetime) -> list[int]:
    """Return DeletionJob.pk of the jobs that can run now, oldest first."""
    rows = DeletionJob.objects.filter(state__in=OPEN_STATES, due__lte=now)
    return list(rows.order_by("due", "pk").values_list("pk", flat=True))


def describe(job: DeletionJob) -> str:
    """Return what a job deletes in words, for the audit log."""
    if job.scope == DeletionScope.PROJECT:
        return job.project.name
    return DeletionSelection.from_job(job).describe()


def _forget_keys(project: Project) -> None:
    """Let this process read the project's keys again after the commit; others do within 15 s."""
    for key_id in ApiKey.objects.filter(project=project).values_list("key_id", flat=True):
        transaction.on_commit(partial(authentication.forget, key_id))
