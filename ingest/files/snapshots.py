"""Store a file as snapshots, which are no part of any service's data: one for each profile type."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

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
from ingest.uploads.decode_pool import decode_limits
from ingest.uploads.upload_budget import UploadAccount
from profiles.engine.encoding.codec import encode_columns
from profiles.engine.metrics import canonical
from profiles.engine.pprof.decode import DecodedProfile, decode_profile
from profiles.models import ResultSnapshot, SavedTreeKind
from profiles.storage import saved_tree_rows
from profiles.storage.saved_tree_rows import NewSavedTree
from projects.audit import Origin
from projects.credentials.authentication import Access
from projects.models import User
from projects.usage import quotas


@dataclass(frozen=True, slots=True)
class _Decoded:
    profile: DecodedProfile
    tree: bytes


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
            decode = partial(_decode, profile)
            decoded = await decode_pool.run_unpacked(access.project, profile.pprof, decode)
            new = _new_snapshot(access.project, params.snapshot, profile, decoded)
            row = await database_pool.run(_store, new, access, origin)
        except Exception:
            await quotas.release(admission)
            raise
        stored.append(_describe(access.project_id, row, decoded.profile))
    return {"format": file.format.value, "profiles": stored}


def _decode(profile: ImportedProfile, raw: bytes) -> _Decoded:
    decoded = decode_profile(raw, profile.type, decode_limits(), profile.sample_types)
    return _Decoded(decoded, encode_columns(decoded.columns))


def _new_snapshot(
    project: int, title: str, profile: ImportedProfile, decoded: _Decoded
) -> NewSavedTree:
    content = decoded.profile
    nanoseconds = content.time_ns or profile.start_ns or 0
    start = datetime.now(UTC)
    if 0 < nanoseconds < start.timestamp() * 10**9:
        start = datetime.fromtimestamp(nanoseconds / 10**9, UTC)
    duration_ns = content.duration_ns or profile.duration_ns or 0
    metrics = [*canonical(profile.type, content.columns.metrics)]
    return NewSavedTree(
        project=project,
        kind=SavedTreeKind.FILE,
        title=title,
        service="",
        type=profile.type,
        start=start,
        end=start + max(timedelta(microseconds=duration_ns // 1000), timedelta(seconds=1)),
        query="",
        metrics=[metrics.pop(content.default), *metrics],
        profiles=1,
        duration_ns=duration_ns,
        tree=decoded.tree,
        warnings=(*profile.warnings, *content.warnings),
    )


def _store(new: NewSavedTree, access: Access, origin: Origin) -> ResultSnapshot:
    creator = User.objects.filter(pk=access.user).first() if access.user else None
    return saved_tree_rows.store(new, actor=creator, key=access.prefix, origin=origin)


def _describe(project_id: str, row: ResultSnapshot, decoded: DecodedProfile) -> StoredFileJson:
    return {
        "name": f"projects/{project_id}/snapshots/{row.snapshot_id}",
        "type": row.type,
        "service": "",
        "startTime": format_timestamp(row.start),
        "duration": format_duration(row.duration_ns / 1e9),
        "samples": decoded.samples,
        "metrics": [
            {"name": metric.name, "unit": metric.unit, "total": total}
            for metric, total in zip(decoded.columns.metrics, decoded.totals, strict=True)
        ],
        "warnings": row.warnings,
        "url": f"{settings.FLAMEWATCH_URL}/p/{project_id}/flame?snapshot={row.snapshot_id}",
    }
