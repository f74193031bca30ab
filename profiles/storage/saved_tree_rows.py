"""Store, find and delete saved trees: rows of ResultSnapshot, each with a call tree in a blob."""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from common.amounts import bytes_text
from profiles.engine.metrics import Metric
from profiles.models import Blob, ResultSnapshot, SavedTreeKind
from profiles.storage import disk, stored_bytes
from profiles.storage.blob_store import BlockLocation, blobs
from profiles.storage.blobs import BlobError, new_key
from profiles.storage.insert_statements import add_usage
from projects import audit
from projects.account_limits import LimitReached
from projects.models import Project, User
from projects.profile_types import ProfileType
from projects.usage import day_usage, quotas

MAX_TITLE = 200  # characters


class SavedTreeNotStored(Exception):
    """The blob store failed; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class NewSavedTree:
    """Fields of a ResultSnapshot; `tree` is encoded by profiles.engine.encoding.codec."""

    project: int  # Project.pk
    kind: SavedTreeKind
    title: str
    service: str
    type: ProfileType
    start: datetime
    end: datetime
    query: str
    metrics: Sequence[Metric]
    profiles: int
    duration_ns: int
    tree: bytes
    left_out: int = 0
    warnings: Sequence[str] = ()


def store(
    new: NewSavedTree,
    *,
    actor: User | None = None,
    key: str = "",
    origin: audit.Origin = audit.NO_CLIENT,
) -> ResultSnapshot:
    """Store a tree saved by a person, or by an API key with the prefix `key`.

    Raise LimitReached, QuotaReached, DiskFull or SavedTreeNotStored.
    """
    disk.require_room()
    _require_room(new)
    blob_key = new_key(new.project)
    try:
        blobs().put(blob_key, new.tree)
    except BlobError as error:
        raise SavedTreeNotStored(str(error)) from error
    try:
        with transaction.atomic():
            project = Project.objects.select_for_update(no_key=True).get(pk=new.project)
            _require_room(new)
            row = _row(new, blob_key, actor)
            stored_bytes.move(new.project, [_count_arrived_bytes(row)], [])
            if new.kind == SavedTreeKind.FILE:
                add_usage(day_usage.utc_day(), {new.project: (1, 0)})
            audit.record(
                project,
                "snapshot.create",
                actor=actor,
                actor_key=key,
                origin=origin,
                target=row.title,
                title=row.title,
                snapshot=row.snapshot_id,
            )
    except BaseException:
        with contextlib.suppress(BlobError):  # blob_sweep.py deletes it later
            blobs().delete(blob_key)
        raise
    day_usage.forget(new.project)
    return row


def list_rows(project: int) -> list[ResultSnapshot]:
    """Return the saved trees of a project (its pk), the latest first."""
    rows = ResultSnapshot.objects.filter(project=project)
    return list(rows.select_related("created_by", "blob").order_by("-created", "-pk"))


def find(project: int, snapshot_id: str) -> ResultSnapshot | None:
    """Return a saved tree of this project; None if it has none with this id."""
    rows = ResultSnapshot.objects.filter(project=project, snapshot_id=snapshot_id)
    return rows.select_related("created_by", "blob").first()


def delete(
    row: ResultSnapshot,
    *,
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    """Delete a saved tree; blob_sweep.py deletes its blob, which a query may still read."""
    with transaction.atomic():
        deleted, _of = ResultSnapshot.objects.filter(pk=row.pk).delete()
        if not deleted:  # by somebody else, meanwhile
            return
        Blob.objects.filter(pk=row.blob_id).update(dead_since=timezone.now())
        stored_bytes.move(row.project_id, [], [_count_arrived_bytes(row)])
        audit.record(
            row.project,
            "snapshot.delete",
            actor=actor,
            origin=origin,
            target=row.title,
            title=row.title,
            snapshot=row.snapshot_id,
        )
    day_usage.forget(row.project_id)


def get_location(row: ResultSnapshot) -> BlockLocation:
    """Return the position of the tree in its blob."""
    return BlockLocation(row.blob.key, 0, row.blob.size)


def _require_room(new: NewSavedTree) -> None:
    rows = ResultSnapshot.objects.filter(project=new.project)
    count, size = rows.count(), rows.aggregate(Sum("blob__size"))["blob__size__sum"] or 0
    if count >= settings.MAX_SNAPSHOTS_PER_PROJECT:
        sentence = _(
            "The project has %(count)d snapshots; the limit is %(allowed)d. Delete some, or ask the"
            " operator of this server to raise FLAMEWATCH_MAX_SNAPSHOTS_PER_PROJECT."
        )
        values = {"count": count, "allowed": settings.MAX_SNAPSHOTS_PER_PROJECT}
        raise LimitReached(sentence % values)
    if size + len(new.tree) > settings.MAX_SNAPSHOT_BYTES_PER_PROJECT:
        sentence = _(
            "The project's snapshots would have %(size)s; the limit is %(allowed)s. Delete some, or"
            " ask the operator of this server to raise FLAMEWATCH_MAX_SNAPSHOT_BYTES_PER_PROJECT."
        )
        allowed = bytes_text(settings.MAX_SNAPSHOT_BYTES_PER_PROJECT)
        raise LimitReached(
            sentence % {"size": bytes_text(size + len(new.tree)), "allowed": allowed}
        )
    quotas.require_bytes(new.project, len(new.tree))


def _row(new: NewSavedTree, blob_key: str, actor: User | None) -> ResultSnapshot:
    blob = Blob.objects.create(project_id=new.project, key=blob_key, size=len(new.tree))
    return ResultSnapshot.objects.create(
        project_id=new.project,
        snapshot_id=secrets.token_hex(8),
        kind=new.kind,
        title=" ".join(new.title.split())[:MAX_TITLE],
        service=new.service,
        type=new.type,
        start=new.start,
        end=new.end,
        query=new.query,
        metrics=[[metric.name, metric.unit] for metric in new.metrics],
        profiles=new.profiles,
        duration_ns=new.duration_ns,
        left_out=new.left_out,
        warnings=[*new.warnings],
        blob=blob,
        created_by=actor,
    )


def _count_arrived_bytes(row: ResultSnapshot) -> stored_bytes.Arrived:
    return {row.created.astimezone(UTC).date().isoformat(): row.blob.size}
