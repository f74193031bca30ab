"""Make the archive of an export in steps; each commits one part of the archive and its cursor."""

import json
import logging
import tarfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from common.amounts import bytes_text
from common.worker_processes.workers import JobCrashed
from profiles.models import Blob, Block, ExportJob, ExportPart, ExportState, Profile, Resolution
from profiles.project_export.documents import describe_project
from profiles.project_export.jobs import OPEN_STATES, discard
from profiles.project_export.profile_files import Hour, list_groups, make_file
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.query_workers import QueryJob
from profiles.queries.selection import InvalidQuery
from profiles.storage import disk
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobError, new_key
from projects import audit
from projects.audit_log import AuditFilter, entry_document, read_all

log = logging.getLogger(__name__)

PART_BYTES = 8 * 2**20  # of a blob of the archive, and of what the job has in memory
FILE_SECONDS = 120.0  # for the merge of one file
_HOUR = timedelta(hours=1)
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LIMITS = (InvalidQuery, DeadlinePassed, JobCrashed)


class _Ended(Exception):
    """The job was canceled, or its archive passed the limit."""


def run_job(pk: int, until: float) -> bool:
    """Perform steps of a job until time.monotonic() is `until`; return True if there are more."""
    job = ExportJob.objects.select_related("project").filter(pk=pk, state__in=OPEN_STATES).first()
    if job is None:
        return False
    problem = disk.shortage()
    if not problem:
        ExportJob.objects.filter(pk=pk, state=ExportState.PENDING).update(state=ExportState.RUNNING)
        try:
            return _Export(job).run(until)
        except _Ended:
            return False
        except BlobError as error:
            problem = str(error)
    log.warning("Export %s is postponed: %s", pk, problem)
    ExportJob.objects.filter(pk=pk).update(problem=problem[:500])
    return False


class _Export:
    def __init__(self, job: ExportJob) -> None:
        self._job = job
        self._parts: list[bytes] = []
        self._size = 0
        self._index: list[str] = []
        self._series = _list_series(job.project_id)

    def run(self, until: float) -> bool:
        while (hour := self._find_hour()) is not None:
            groups = self._list_groups(hour)
            names = tuple(sorted({name for each in groups for name, _ in json.loads(each)[2]}))
            done = self._job.cursor.get("group", "")
            for group in groups:
                if group <= done:
                    continue
                self._add(hour, group, names)
                self._move(hour, group)
                if time.monotonic() >= until:
                    self._commit()
                    return True
                if self._size >= PART_BYTES:
                    self._commit()
            self._move(hour._replace(start=hour.end), "")
        self._commit()
        self._finish()
        return False

    def _list_groups(self, hour: Hour) -> list[str]:
        """Return the groups of an hour; none, with a line of the index, if they are unreadable."""
        try:
            groups: list[str] = self._call(list_groups, hour)
        except _LIMITS as error:
            reason = str(error) or type(error).__name__
            entry = {"service": hour.service, "type": hour.type, "start": hour.start}
            self._index.append(_line(entry | {"end": hour.end, "file": None, "error": reason}))
            return []
        return groups

    def _find_hour(self) -> Hour | None:
        """Return the hour at the cursor, or the next one that has profiles; None at the end."""
        cursor, project = self._job.cursor, self._job.project_id
        position = (cursor.get("service", ""), cursor.get("type", ""))
        for service, type_ in self._series:
            if (service, type_) < position:
                continue
            is_current = (service, type_) == position
            after = datetime.fromisoformat(cursor["start"]) if is_current else _EARLIEST
            start = _find_first(project, service, type_, after, self._job.requested)
            if start is None:
                continue
            if not is_current or start > after:
                self._job.cursor = {}
            end = min(start + _HOUR, self._job.requested)
            return Hour(project, service, type_, start, end)
        return None

    def _add(self, hour: Hour, group: str, names: tuple[str, ...]) -> None:
        zone, version, labels = json.loads(group)
        entry: dict[str, Any] = {
            **{"service": hour.service, "type": hour.type, "zone": zone, "version": version},
            **{"labels": dict(labels), "start": hour.start, "end": hour.end},
        }
        try:
            data, profiles, left_out = self._call(make_file, hour, group, names)
        except _LIMITS as error:
            entry |= {"file": None, "error": str(error) or type(error).__name__}
        else:
            name = f"profiles/{self._job.files + 1:08}.pb.gz"
            entry |= {"file": name, "profiles": profiles, "left_out": left_out}
            head, end = _member_frame(name, len(data))
            self._parts += [head, data, end]
            self._size += len(head) + len(data) + len(end)
            self._job.files += 1
            self._job.profiles += profiles
        self._index.append(_line(entry))

    def _move(self, hour: Hour, group: str) -> None:
        self._job.cursor = {
            **{"service": hour.service, "type": hour.type, "start": hour.start.isoformat()},
            "group": group,
        }

    def _call(self, function: Any, *arguments: object) -> Any:
        project = self._job.project
        context = QueryContext(project.pk, project.project_id, time.monotonic() + FILE_SECONDS)
        return QueryJob(function, arguments)(context)

    def _commit(self) -> None:
        """Store the buffer as the next part, with the cursor behind it."""
        data, index = b"".join(self._parts), "".join(self._index)
        # Before the transaction, in which SQLite lets nobody else write.
        stored = _put(self._job.project_id, data) if data or index else None
        with transaction.atomic():
            job = self._lock()
            if stored is not None:
                _create_part(job, job.parts.count(), *stored, index)
            self._job.bytes += len(data)
            fields = ["cursor", "files", "profiles", "bytes", "problem"]
            self._job.problem = ""
            self._job.save(update_fields=fields)
        self._parts, self._size, self._index = [], 0, []
        self._require_size()

    def _lock(self) -> ExportJob:
        """Lock the row of the job. Raise _Ended if the job was canceled."""
        rows = ExportJob.objects.select_for_update().filter(pk=self._job.pk)
        job = rows.filter(state=ExportState.RUNNING).first()
        if job is None:
            raise _Ended
        return job

    def _require_size(self) -> None:
        if self._job.bytes <= settings.EXPORT_MAX_BYTES:
            return
        problem = (
            f"The archive has more than {bytes_text(settings.EXPORT_MAX_BYTES)}, which "
            "FLAMEWATCH_EXPORT_MAX_BYTES allows."
        )
        ExportJob.objects.filter(pk=self._job.pk).update(problem=problem)
        discard(self._job, ExportState.FAILED, OPEN_STATES)
        raise _Ended

    def _finish(self) -> None:
        """Add the index, the audit log, the description and the end of the archive."""
        job, project = self._job, self._job.project
        parts = job.parts.order_by("number")
        criteria = AuditFilter(project=project.pk, since=_EARLIEST)
        entries = (
            _line(dict(entry_document(entry))) for page in read_all(criteria) for entry in page
        )
        index = (part.index for part in parts.iterator(chunk_size=1))
        description = json.dumps(describe_project(project), cls=DjangoJSONEncoder, indent=2)
        stored: list[tuple[str, int]] = []
        for name, texts in (
            ("profiles.jsonl", index),
            ("audit.jsonl", entries),
            ("project.json", iter([description])),
        ):
            content = [_put(project.pk, data) for data in _pack(texts)]
            size = sum(length for _, length in content)
            head, end = _member_frame(name, size)
            stored += [_put(project.pk, head), *content]
            stored += [_put(project.pk, end)] if end else []
        stored.append(_put(project.pk, bytes(2 * tarfile.BLOCKSIZE)))
        with transaction.atomic():
            locked = self._lock()
            number = locked.parts.count()
            for key, size in stored:
                _create_part(locked, number, key, size, "")
                number += 1
            now = timezone.now()
            job.state, job.finished = ExportState.DONE, now
            job.expires = now + timedelta(days=settings.EXPORT_DAYS)
            job.bytes += sum(size for _, size in stored)
            job.save(update_fields=["state", "finished", "expires", "bytes"])
            audit.record(
                project,
                "export.finish",
                origin=audit.SYSTEM,
                target=project.name,
                profiles=job.profiles,
                bytes=job.bytes,
            )


def _list_series(project: int) -> list[tuple[str, str]]:
    series = ("service", "type")
    head = Profile.objects.filter(project=project).order_by().values_list(*series).distinct()
    packed = Block.objects.filter(project=project).order_by().values_list(*series).distinct()
    return sorted({*head, *packed})


def _find_first(
    project: int, service: str, type_: str, after: datetime, end: datetime
) -> datetime | None:
    """Return the first hour from `after` on that may have profiles before `end`."""
    series = {"project": project, "service": service, "type": type_}
    head = Profile.objects.filter(**series, time__gte=after, time__lt=end).aggregate(t=Min("time"))[
        "t"
    ]
    rows = Block.objects.filter(
        **series, resolution=Resolution.PROFILE, last__gte=after, first__lt=end
    )
    first = rows.aggregate(t=Min("first"))["t"]
    times = [each for each in (head, first and max(first, after)) if each is not None]
    return min(times).replace(minute=0, second=0, microsecond=0) if times else None


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n"


def _pack(texts: Iterable[str]) -> Iterator[bytes]:
    """Join texts to pieces of about PART_BYTES."""
    pieces: list[bytes] = []
    size = 0
    for text in texts:
        pieces.append(text.encode())
        size += len(pieces[-1])
        if size >= PART_BYTES:
            yield b"".join(pieces)
            pieces, size = [], 0
    if size:
        yield b"".join(pieces)


def _member_frame(name: str, size: int) -> tuple[bytes, bytes]:
    """Return the header of a file in a tar archive, and the bytes that fill its last block."""
    info = tarfile.TarInfo(name)
    info.size = size
    info.mtime = int(time.time())
    return info.tobuf(tarfile.PAX_FORMAT), bytes(-size % tarfile.BLOCKSIZE)


def _create_part(job: ExportJob, number: int, key: str, size: int, index: str) -> None:
    blob = Blob.objects.create(project_id=job.project_id, key=key, size=size)
    ExportPart.objects.create(job=job, number=number, blob=blob, index=index)


def _put(project: int, data: bytes) -> tuple[str, int]:
    key = new_key(project)
    blobs().put(key, data)
    return key, len(data)
