"""Uploads of the Cloud Profiler API: UpdateProfile and CreateOfflineProfile.

Each is authorized before its body is read, and then stored.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from common.asgi import note_authenticated
from endpoints import credentials
from endpoints.errors import KeyRevoked, NotFound
from ingest import deployments
from ingest.caller import Caller
from ingest.cloud_profiler import names
from ingest.cloud_profiler.names import Issued
from ingest.cloud_profiler.responses import ProfileJson, describe_stored
from ingest.cloud_profiler.wire import OfflineProfile, SentProfile
from ingest.deployments import Target
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads.pipeline import store_import, store_upload
from ingest.uploads.requests import require_profile_size
from ingest.uploads.upload import RequestedUpload
from projects.credentials import authentication
from projects.credentials.authentication import Access


@dataclass(frozen=True, slots=True)
class RequestedProfile:
    """Profile that CreateProfile has requested, and that may be uploaded under its name."""

    name_id: str
    issued: Issued
    target: Target

    @property
    def project(self) -> int:
        return self.issued.project

    @property
    def agent(self) -> int | None:
        return self.issued.agent


async def authorize_update(caller: Caller, project: str, name_id: str) -> RequestedProfile:
    """Authorize an upload by the caller's API key, or without a key by the name alone.

    A name cannot be guessed and takes only one profile. The Java agent over plain HTTP can send
    nothing else. Raise KeyRevoked if the key to which the name was issued has been revoked, and
    NotFound for names of other projects.
    """
    if caller.credential:
        access = await caller.authenticate()
        credentials.require_write(access)
        credentials.require_own(access, project)
        issued = names.check(name_id, access.project_id, time.time())
        if issued.project != access.project:
            raise NotFound("No profile was requested under this name.")
    else:
        issued = names.check(name_id, project, time.time())
    if issued.key_id:
        issuer = await authentication.find_by_id(issued.key_id)
        if issuer is None:
            raise KeyRevoked
        credentials.require_not_suspended(issuer)
    note_authenticated(caller.scope, ("project", issued.project))
    target = await deployments.get_target(issued.project, issued.deployment)
    return RequestedProfile(name_id, issued, target)


async def update_profile(requested: RequestedProfile, sent: SentProfile) -> ProfileJson:
    """Store an uploaded profile and describe it, without its bytes.

    Sending the same bytes again returns the profile stored before. `updateMask` is ignored: only
    the bytes and the labels can be set, and agents send both.
    """
    require_profile_size(sent.body)
    issued = requested.issued
    upload = RequestedUpload(
        target=requested.target,
        agent=issued.agent,
        type=issued.type,
        pprof=sent.body,
        labels=sent.labels,
        duration_ns=sent.duration_ns,
        name_id=requested.name_id,
        requested_at=datetime.fromtimestamp(issued.issued, UTC),
    )
    return describe_stored(await store_upload(upload))


async def authorize_offline(caller: Caller, project: str) -> Access:
    access = await caller.authenticate()
    credentials.require_write(access)
    credentials.require_own(access, project)
    return access


async def create_offline_profile(
    caller: Caller, access: Access, sent: OfflineProfile
) -> ProfileJson:
    """Store a profile that describes itself, without a capture request.

    An upload with the same bytes, deployment, labels and time returns the profile stored before.
    """
    require_profile_size(sent.body)
    agent = caller.describe_agent(access, frozenset({sent.type}))
    profile = ImportedProfile(sent.type, sent.body, sent.start_ns, sent.duration_ns)
    return describe_stored(
        await store_import(access, agent, sent.deployment.key, sent.labels, profile)
    )
