"""Perform deletion jobs in small steps, each of which is one commit."""

import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Protocol

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from common.sqlite_space import return_space
from profiles.compaction.blob_sweep import DEAD_FOR, delete_dead, find_unused_bytes, repack
from profiles.compaction.build import build_without
from profiles.compaction.build_workers import BUILD_FAILURES, BUILD_LIMITS, build
from profiles.compaction.lease import BACKUP, is_held
from profiles.compaction.replace import (
    DeletionCount,
    Replacement,
    SourcesGone,
    read_rows,
    replace_sources,
)
from profiles.deletion.jobs import describe
from profiles.deletion.selection import Cover, DeletionSelection, SelectedRows
from profiles.models import (
    Blob,
    Block,
    DeletionJob,
    DeletionScope,
    DeletionState,
    ExportJob,
    Profile,
    Resolution,
    ResultSnapshot,
    SavedTreeKind,
)
from profiles.project_export import jobs as export_jobs
from profiles.queries.cache import result_cache
from profiles.retention import has_profiles
from profiles.storage import saved_tree_rows
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobError, BlobMissing
from profiles.storage.blobs.keys import key_prefix
from profiles.storage.column_files import column_files
from projects import audit
from projects.models import Agent, Deployment
from projects.registration import deployments
from projects.service_erasure import ErasedRange, erase_range, erase_service

log = logging.getLogger(__name__)

ROWS = 1000  # head rows of one commit
BLOCKS = 100  # blocks of one commit
# A deployment that was seen later than this reports still, and stays.
UNSEEN = timedelta(minutes=10)
_MAX_PROBLEM = 500
_FAILURES = (BlobError, *BUILD_FAILURES, *BUILD_LIMITS)


class _Deletion(Protocol):
    def run(self, until: float) -> bool:
        """Perform steps until time.monotonic() is `until`; return True if there are more now."""


def run_job(pk: int, now: datetime, until: float) -> bool:
    """Perform steps of a job until time.monotonic() is `until`.

    Return True if there are more to do now; a job that waits is continued by the next sweep.
    """
    job = DeletionJob.objects.select_related("project").filter(pk=pk).first()
    if job is None or job.state in {DeletionState.DONE, DeletionState.CANCELED}:
        return False
    is_project = job.scope == DeletionScope.PROJECT
    deletion: _Deletion = (_ProjectDeletion if is_project else _SelectionDeletion)(job, now)
    if job.state == DeletionState.PENDING and not _start(job, now):
        return False
    try:
        has_more = deletion.run(until)
    except SourcesGone as gone:  # compaction was faster: the next step finds its blocks
        log.info("Deletion %s is repeated: %s", pk, gone)
        return True
    except _FAILURES as error:
        log.warning("Deletion %s is postponed: %s", pk, error)
        problem = (str(error) or type(error).__name__)[:_MAX_PROBLEM]
        DeletionJob.objects.filter(pk=pk).update(problem=problem)
        return False
    if job.problem:
        DeletionJob.objects.filter(pk=pk).update(problem="")
    return has_more


def _start(job: DeletionJob, now: datetime) -> bool:
    """Start a job that is due; return False if it is not, or was canceled."""
    pending = DeletionJob.objects.filter(pk=job.pk, state=DeletionState.PENDING, due__lte=now)
    if not pending.update(state=DeletionState.DELETING):
        return False
    job.state = DeletionState.DELETING
    job.expected_profiles = SelectedRows(job.project_id, DeletionSelection.from_job(job)).count()
    job.save(update_fields=["expected_profiles"])
    return True


class _SelectionDeletion:
    """Deletion of a selection, or of a service.

    A pass deletes head rows and blocks. Then the blobs of before are rewritten and deleted, and the
    next pass deletes what arrived meanwhile of the time before the request. A pass that finds
    nothing ends the job.
    """

    def __init__(self, job: DeletionJob, now: datetime) -> None:
        self._job, self._now = job, now
        self._project = job.project_id
        self._selection = DeletionSelection.from_job(job)
        selection = self._selection
        self._rows = SelectedRows(
            self._project, selection.until(job.requested) if job.passes else selection
        )

    def run(self, until: float) -> bool:
        if self._job.state == DeletionState.DELETING:
            while self._delete_head_rows() or self._delete_blocks(until):
                if time.monotonic() >= until:
                    return True
            self._end_pass()
        if self._job.state == DeletionState.ERASING:
            return self._erase(until)
        return False

    def _delete_head_rows(self) -> bool:
        replacement = read_rows(self._rows.head(), ROWS)
        if replacement.rows:
            self._replace(replacement, len(replacement.rows), sum(replacement.arrived.values()))
        return bool(replacement.rows)

    def _delete_blocks(self, until: float) -> bool:
        """Delete and rewrite the next blocks; return False after the last one."""
        rows = list(self._rows.blocks().filter(pk__gt=self._job.cursor)[:BLOCKS])
        for cover, group in groupby(rows, key=self._rows.cover):
            some = list(group)
            if cover is Cover.WHOLE:
                self._drop(some)
            elif cover is Cover.PART:
                for row in some:
                    self._rewrite(row)
                    self._set_cursor(row)
                    if time.monotonic() >= until:
                        return True
            self._set_cursor(some[-1])
        return bool(rows)

    def _drop(self, rows: Sequence[Block]) -> None:
        days = {row.day_block_id for row in rows} - {None}
        pks = [*(row.pk for row in rows), *(pk for pk in days if pk is not None)]
        self._replace(Replacement(blocks=pks), sum(row.profiles for row in rows), _sum_lengths(pks))

    def _rewrite(self, row: Block) -> None:
        replacement = build(build_without, self._project, row.pk, self._rows.part)
        if replacement.is_empty:
            return
        new = replacement.new
        self._replace(
            replacement,
            max(0, row.profiles - sum(block.profiles for block in new)),
            max(0, _sum_lengths(replacement.blocks) - sum(len(block.data) for block in new)),
        )

    def _replace(self, replacement: Replacement, profiles: int, size: int) -> None:
        count = DeletionCount(self._job.pk, profiles, size)
        replace_sources(self._project, [replacement], count)
        self._job.has_deleted = True

    def _set_cursor(self, row: Block) -> None:
        self._job.cursor = row.pk
        self._job.save(update_fields=["cursor"])

    def _end_pass(self) -> None:
        job = self._job
        self._delete_snapshots()
        if job.has_deleted:  # archives of before have the deleted profiles
            export_jobs.discard_all(self._project)
            erase_range(self._describe_range())
        if self._selection.is_service:
            erase_service(job.project, job.service)
        if self._selection.has_all_types_and_times:
            self._delete_deployments()
        _clear_caches(self._project)
        if job.passes and not job.has_deleted:
            self._finish()
            return
        job.state, job.cursor, job.has_deleted = DeletionState.ERASING, 0, False
        job.passes += 1
        # The real time: blobs that this run made are not older.
        job.erasing_since = timezone.now()
        job.save(update_fields=["state", "cursor", "has_deleted", "passes", "erasing_since"])

    def _erase(self, until: float) -> bool:
        """Rewrite blobs with bytes of deleted blocks, and wait until the old ones are deleted."""
        since = self._job.erasing_since
        if since is None:
            raise ValueError("A job that erases has the time since when.")
        for blob in find_unused_bytes(self._project, since):
            try:
                repack(blob, self._now)
            except BlobMissing as error:
                log.warning("Blob %d cannot be rewritten: %s", blob, error)
            if time.monotonic() >= until:
                return True
        delete_dead(self._now, self._project)
        dead = Blob.objects.filter(project=self._project, dead_since__isnull=False)
        if dead.filter(created__lte=since).exists() or self._now < since + DEAD_FOR:
            return False
        DeletionJob.objects.filter(pk=self._job.pk).update(state=DeletionState.DELETING)
        return True

    def _describe_range(self) -> ErasedRange:
        """Return the range of the selection, whose zone and version do not restrict it."""
        selection = self._selection
        end = selection.end or self._job.requested
        return ErasedRange(self._project, selection.service, selection.type, selection.start, end)

    def _delete_snapshots(self) -> None:
        """Delete the snapshots of selections whose service, type and range have such profiles."""
        selection = self._selection
        rows = ResultSnapshot.objects.filter(project=self._project, kind=SavedTreeKind.SELECTION)
        restrictions = {
            "service": selection.service,
            "type": selection.type,
            "end__gt": selection.start,
            "start__lt": selection.end or self._job.requested,
        }
        given = {name: value for name, value in restrictions.items() if value}
        for row in rows.filter(**given).select_related("blob", "project"):
            saved_tree_rows.delete(row, origin=audit.SYSTEM)

    def _delete_deployments(self) -> None:
        """Delete the deployments that have no profiles left and do not report."""
        unseen = max(self._job.requested, self._now - UNSEEN)
        rows = self._rows.deployments().filter(last_seen__lt=unseen)
        for row in rows.order_by("pk"):
            if not has_profiles(row):
                Deployment.objects.filter(pk=row.pk).delete()
                deployments.forget(row)

    def _finish(self) -> None:
        """Erase the names in the job, and add the entry of the audit log."""
        job = self._job
        with transaction.atomic():
            job.refresh_from_db(fields=["profiles", "bytes"])
            audit.record(
                job.project,
                "deletion.finish",
                origin=audit.SYSTEM,
                target=describe(job),
                scope=str(job.scope),
                profiles=job.profiles,
                bytes=job.bytes,
                request=job.request_entry,
            )
            job.state, job.finished = DeletionState.DONE, timezone.now()
            job.service = job.type = ""
            job.zone = job.version = job.start = job.end = None
            job.save(
                update_fields=[
                    *("state", "finished", "service", "type", "zone", "version", "start", "end")
                ]
            )
        return_space()


class _ProjectDeletion:
    """Deletion of a project that nobody has seen for days: its blobs need not wait."""

    def __init__(self, job: DeletionJob, now: datetime) -> None:
        self._job, self._now = job, now
        self._project = job.project_id

    def run(self, until: float) -> bool:
        steps = (
            self._delete_head_rows,
            self._delete_blocks,
            self._delete_exports,
            self._delete_snapshots,
            self._delete_agents,
            self._delete_deployments,
        )
        for step in steps:
            while step():
                if time.monotonic() >= until:
                    return True
        if not self._delete_blobs(until):
            return not is_held(BACKUP)
        self._finish()
        return False

    def _delete_head_rows(self) -> bool:
        rows = Profile.objects.filter(project=self._project).order_by("pk")
        replacement = read_rows(rows, ROWS)
        if replacement.rows:
            size = sum(replacement.arrived.values())
            self._replace(replacement, len(replacement.rows), size)
        return bool(replacement.rows)

    def _delete_blocks(self) -> bool:
        rows = Block.objects.filter(project=self._project)
        days = rows.filter(resolution=Resolution.DAY).order_by("pk")[:BLOCKS]
        some = list(days) or list(rows.order_by("pk")[:BLOCKS])
        if some:
            profiles = sum(row.profiles for row in some if row.resolution != Resolution.DAY)
            pks = [row.pk for row in some]
            self._replace(Replacement(blocks=pks), profiles, _sum_lengths(pks))
        return bool(some)

    def _replace(self, replacement: Replacement, profiles: int, size: int) -> None:
        count = DeletionCount(self._job.pk, profiles, size)
        replace_sources(self._project, [replacement], count)

    def _delete_exports(self) -> bool:
        ExportJob.objects.filter(project=self._project).delete()
        return False

    def _delete_snapshots(self) -> bool:
        rows = ResultSnapshot.objects.filter(project=self._project)
        return _delete_some(ResultSnapshot.objects.filter(pk__in=_first(rows)))

    def _delete_agents(self) -> bool:
        rows = Agent.objects.filter(deployment__project=self._project)
        return _delete_some(Agent.objects.filter(pk__in=_first(rows)))

    def _delete_deployments(self) -> bool:
        rows = Deployment.objects.filter(project=self._project)
        return _delete_some(Deployment.objects.filter(pk__in=_first(rows)))

    def _delete_blobs(self, until: float) -> bool:
        """Delete blobs with their rows, then objects without rows; return False if some are left.

        A backup copies rows first, then the blobs that they name: meanwhile no object is deleted.
        """
        for blob in Blob.objects.filter(project=self._project).order_by("pk"):
            if is_held(BACKUP):
                return False
            Blob.objects.filter(pk=blob.pk).delete()
            blobs().delete(blob.key)
            if time.monotonic() >= until:
                return False
        if is_held(BACKUP):
            return False
        for entry in list(blobs().list(key_prefix(self._project))):
            blobs().delete(entry.key)
        return True

    def _finish(self) -> None:
        job, project = self._job, self._job.project
        pk = project.pk
        with transaction.atomic():
            job.refresh_from_db(fields=["profiles", "bytes"])
            audit.record(
                project,
                "project.delete",
                origin=audit.SYSTEM,
                target=project.name,
                name=project.name,
                profiles=job.profiles,
                bytes=job.bytes,
                request=job.request_entry,
            )
            project.delete()
        _clear_caches(pk)
        return_space()


def _sum_lengths(pks: Sequence[int]) -> int:
    total = Block.objects.filter(pk__in=pks).aggregate(total=Sum("length"))["total"]
    return total or 0


def _first(rows: QuerySet[ResultSnapshot] | QuerySet[Agent] | QuerySet[Deployment]) -> list[int]:
    return list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS])


def _delete_some(
    rows: QuerySet[ResultSnapshot] | QuerySet[Agent] | QuerySet[Deployment],
) -> bool:
    return bool(rows.delete()[0])


def _clear_caches(project: int) -> None:
    """Delete cached results, and this machine's columns of blobs that are not stored any more."""
    result_cache().clear()
    files = column_files()
    if files:
        stored = set(Blob.objects.filter(project=project).values_list("key", flat=True))
        files.delete_blobs(project, stored.__contains__)
