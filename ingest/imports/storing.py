"""Store profiles that describe themselves: offline uploads and imports from other protocols."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import orjson

from ingest import deployments
from ingest.deployments import Target
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads import label_values, profile_time, uploading
from ingest.uploads.decoding import DecodedUpload
from ingest.uploads.rows import UploadOrigin, row
from ingest.uploads.uploading import Stored
from profiles.storage.head import NewProfile
from projects.credentials.authentication import Access
from projects.registration import registry
from projects.registration.registry import AgentSeen, DeploymentKey, RegisteredAgent
from projects.usage import limits


@dataclass(frozen=True, slots=True)
class Import:
    """Profile, and the deployment, profile labels and agent that it belongs to."""

    profile: ImportedProfile
    deployment: DeploymentKey
    labels: Mapping[str, str]
    agent: AgentSeen


class StoredImport(NamedTuple):
    target: Target
    stored: Stored


async def store_import(access: Access, sent: Import) -> StoredImport:
    """Store a profile and return it with its deployment; a repeated one returns the first.

    The caller has charged its bytes to the budget of uploads. Raise what store_upload raises,
    QuotaReached for a new deployment over quota, and TooManyLabelValues.
    """
    profile = sent.profile
    registered = await registry.seen(access, sent.deployment, sent.agent)
    target = await deployments.target(access.project, registered.deployment)
    days = (await limits.find_limits(access.project)).retention_days
    make_row = partial(_row, registered, target, sent, timedelta(days=days))
    with uploading.report_rejections(target, registered.agent, sent.agent.hostname):
        label_values.count(access.project, sent.labels)
        stored = await uploading.store_upload(
            access.project, profile.type, profile.pprof, make_row, profile.sample_types
        )
    warnings = (*profile.warnings, *stored.warnings)
    return StoredImport(target, Stored(stored.profile, warnings))


def _row(
    registered: RegisteredAgent,
    target: Target,
    sent: Import,
    retention: timedelta,
    packed: DecodedUpload,
) -> NewProfile:
    profile, labels = sent.profile, dict(sent.labels)
    duration = profile_time.duration_ns(profile.type, packed.duration_ns, profile.duration_ns)
    pprof_time = 0 if profile.ends_at_pprof_time else packed.time_ns
    claims = (pprof_time, profile.start_ns)
    start = profile_time.started(claims, datetime.now(UTC), retention, duration)
    origin = UploadOrigin(target, registered.agent, profile.type, labels)
    time_ns = pprof_time or profile.start_ns or 0
    name_id, former_name_id = (
        _name_id(registered.deployment, profile, labels, time_ns, body_hash)
        for body_hash in (packed.body_hash, packed.former_hash)
    )
    return row(origin, start, name_id, packed, "" if former_name_id == name_id else former_name_id)


def _name_id(
    deployment: int,
    profile: ImportedProfile,
    labels: dict[str, str],
    time_ns: int,
    body_hash: bytes,
) -> str:
    """Derive a name from the identity of an upload, so that a repeated upload finds the first.

    The time is the one claimed by the sender. Without a claim, the same bytes are the same profile
    whenever they are sent.
    """
    identity = orjson.dumps(
        [body_hash.hex(), deployment, profile.type, labels, time_ns],
        option=orjson.OPT_SORT_KEYS,
    )
    identity_hash = blake2b(identity, digest_size=24).digest()
    return f"offline-{base64.urlsafe_b64encode(identity_hash).decode()}"
