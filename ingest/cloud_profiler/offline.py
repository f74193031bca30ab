"""CreateOfflineProfile: an upload without a capture request, which describes itself."""

import base64
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b

import orjson

from endpoints import credentials
from ingest import agents, deployments
from ingest.cloud_profiler import wire
from ingest.cloud_profiler.requests import UploadRequest, check_size, read_upload
from ingest.cloud_profiler.responses import ProfileJson, stored_json
from ingest.cloud_profiler.wire import OfflineProfile
from ingest.deployments import Target
from ingest.uploads import label_values, profile_time, uploading
from ingest.uploads.decoding import DecodedUpload
from ingest.uploads.rows import UploadOrigin, row
from ingest.uploads.upload_budget import uploads
from profiles.storage.head import NewProfile
from projects.credentials.authentication import Access
from projects.registration import registry
from projects.registration.registry import DeploymentKey, RegisteredAgent
from projects.usage import limits


async def create_offline(request: UploadRequest, project: str) -> ProfileJson:
    """Store an uploaded profile and describe it.

    An upload with the same bytes, deployment, labels and time returns the profile stored before.
    """
    text = credentials.key_text(request.headers, request.query)
    access = await credentials.access(text, request.scope)
    credentials.require_write(access)
    credentials.require_own(access, project)
    with uploads.account(access.project) as charge:
        profile = await read_upload(request, access.project, wire.offline_profile, charge)
        check_size(profile.sent.body)
        registered = await _register(access, request, profile)
        target = await deployments.target(access.project, registered.deployment)
        days = (await limits.find_limits(access.project)).retention_days
        make_row = partial(_row, registered, target, profile, timedelta(days=days))
        with uploading.report_rejections(registered.agent):
            label_values.count(access.project, profile.sent.labels)
            stored = await uploading.store_upload(
                access.project, profile.type, profile.sent.body, make_row
            )
    return stored_json(target, stored)


async def _register(
    access: Access, request: UploadRequest, profile: OfflineProfile
) -> RegisteredAgent:
    deployment = profile.deployment
    agent = agents.agent_seen(access, request.headers, request.peer, frozenset({profile.type}))
    key = DeploymentKey(
        service=deployment.target,
        zone=deployment.zone,
        version=deployment.version,
        language=deployment.language,
    )
    return await registry.seen(access, key, agent)


def _row(
    registered: RegisteredAgent,
    target: Target,
    profile: OfflineProfile,
    retention: timedelta,
    packed: DecodedUpload,
) -> NewProfile:
    sent = profile.sent
    duration = profile_time.duration_ns(profile.type, packed.duration_ns, sent.duration_ns)
    claims = (packed.time_ns, profile.start_ns)
    start = profile_time.started(claims, datetime.now(UTC), retention, duration)
    origin = UploadOrigin(target, registered.agent, profile.type, sent.labels)
    time_ns = packed.time_ns or profile.start_ns or 0
    name_id, former_name_id = (
        _name_id(registered.deployment, profile, time_ns, body_hash)
        for body_hash in (packed.body_hash, packed.former_hash)
    )
    return row(origin, start, name_id, packed, "" if former_name_id == name_id else former_name_id)


def _name_id(deployment: int, profile: OfflineProfile, time_ns: int, body_hash: bytes) -> str:
    """Derive a name from the identity of an upload, so that a repeated upload finds the first.

    The time is the one claimed by the sender. Without a claim, the same bytes are the same profile
    whenever they are sent.
    """
    identity = orjson.dumps(
        [body_hash.hex(), deployment, profile.type, profile.sent.labels, time_ns],
        option=orjson.OPT_SORT_KEYS,
    )
    identity_hash = blake2b(identity, digest_size=24).digest()
    return f"offline-{base64.urlsafe_b64encode(identity_hash).decode()}"
