"""Store a file as snapshots, which are no part of any service's data: one for each profile type."""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from common import database_pool
from endpoints.json_message import format_duration, format_timestamp
from ingest.files.importing import (
    ImportJson,
    StoredFileJson,
    complete_profile,
    convert,
)
from ingest.files.params import ImportParams
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads import decode_pool
from ingest.uploads.decode_job import DecodedUpload, decode_body
from ingest.uploads.upload_budget import UploadAccount
from profiles.engine.metrics import Metric
from profiles.models import ResultSnapshot, SavedTreeKind
from profiles.storage import saved_tree_rows
from profiles.storage.saved_tree_rows import NewSavedTree
from projects.audit import Origin
from projects.credentials.authentication import Access
from projects.models import User
from projects.usage import quotas


async def store_snapshots(
    access: Access,
    params: ImportParams,
    body: bytes,
    account: UploadAccount,
    origin: Origin,
) -> ImportJson:
    """Convert a file and store a snapshot of each of its profiles, in this order of their types.

    Each counts as a profile against the quotas of the project. Raise what converting, decoding and
    storing raise; snapshots before the first one that cannot be stored stay stored.
    """
    file = await convert(access.project, params, body)
    stored = []
    for each in file.profiles:
        account.charge(len(each.pprof))
        profile = complete_profile(each, params, states_duration=file.states_duration)
        admission = await quotas.admit_profile(access.project, len(profile.pprof))
        try:
            decoded = await decode_pool.decode_apart(
                access.project, decode_body, profile.pprof, profile.type, profile.sample_types
            )
            new = _new_snapshot(access.project, params.snapshot, profile, decoded)
            row = await database_pool.run(_store, new, access, origin)
        except Exception:
            await quotas.release(admission)
            raise
        stored.append(_describe(access.project_id, row, decoded))
    return {"format": file.format.value, "profiles": stored}


def _new_snapshot(
    project: int, title: str, profile: ImportedProfile, decoded: DecodedUpload
) -> NewSavedTree:
    nanoseconds = decoded.time_ns or profile.start_ns or 0
    start = datetime.now(UTC)
    if 0 < nanoseconds < start.timestamp() * 10**9:
        start = datetime.fromtimestamp(nanoseconds / 10**9, UTC)
    duration_ns = decoded.duration_ns or profile.duration_ns or 0
    return NewSavedTree(
        project=project,
        kind=SavedTreeKind.FILE,
        title=title,
        service="",
        type=profile.type,
        start=start,
        end=start + max(timedelta(microseconds=duration_ns // 1000), timedelta(seconds=1)),
        query="",
        metrics=[Metric(name, unit) for name, unit, _total in decoded.content.totals],
        profiles=1,
        duration_ns=duration_ns,
        tree=decoded.content.tree,
        warnings=(*profile.warnings, *decoded.warnings),
    )


def _store(new: NewSavedTree, access: Access, origin: Origin) -> ResultSnapshot:
    creator = User.objects.filter(pk=access.user).first() if access.user else None
    return saved_tree_rows.store(new, actor=creator, key=access.prefix, origin=origin)


def _describe(project_id: str, row: ResultSnapshot, decoded: DecodedUpload) -> StoredFileJson:
    return {
        "name": f"projects/{project_id}/snapshots/{row.snapshot_id}",
        "type": row.type,
        "service": "",
        "startTime": format_timestamp(row.start),
        "duration": format_duration(row.duration_ns / 1e9),
        "samples": decoded.content.samples,
        "metrics": [
            {"name": name, "unit": unit, "total": total}
            for name, unit, total in decoded.content.totals
        ],
        "warnings": row.warnings,
        "url": f"{settings.FLAMEWATCH_URL}/p/{project_id}/flame?snapshot={row.snapshot_id}",
    }
