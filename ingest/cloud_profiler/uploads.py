"""UpdateProfile: upload of a requested profile under the name that CreateProfile issued."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from common.asgi import note_authenticated
from common.request_body import Charge
from endpoints import credentials
from endpoints.errors import KeyRevoked, NotFound
from ingest import deployments
from ingest.caller import Caller
from ingest.cloud_profiler import names
from ingest.cloud_profiler.names import Issued
from ingest.cloud_profiler.responses import ProfileJson, stored_json
from ingest.cloud_profiler.wire import SentProfile
from ingest.uploads import pipeline
from ingest.uploads.requests import check_size
from ingest.uploads.upload import RequestedUpload
from ingest.uploads.upload_budget import uploads
from projects.credentials import authentication

ReadProfile = Callable[[int, Charge], Awaitable[SentProfile]]


async def update_profile(
    caller: Caller, project: str, name_id: str, read: ReadProfile
) -> ProfileJson:
    """Store an uploaded profile and describe it, without its bytes.

    `read` reads the profile for a project (Project.pk) and charges its bytes.
    Sending the same bytes again returns the profile stored before. `updateMask` is ignored: only
    the bytes and the labels can be set, and agents send both.
    """
    issued = await _issued(caller, project, name_id)
    note_authenticated(caller.scope, ("project", issued.project))
    target = await deployments.target(issued.project, issued.deployment)
    with (
        pipeline.report_rejections(target, issued.agent),
        uploads.account(issued.project) as charge,
    ):
        sent = await read(issued.project, charge)
        check_size(sent.body)
        upload = RequestedUpload(
            target=target,
            agent=issued.agent,
            type=issued.type,
            pprof=sent.body,
            labels=sent.labels,
            duration_ns=sent.duration_ns,
            name_id=name_id,
            requested_at=datetime.fromtimestamp(issued.issued, UTC),
        )
        stored = await pipeline.store_upload(upload)
    return stored_json(stored)


async def _issued(caller: Caller, project: str, name_id: str) -> Issued:
    """Authorize the upload by the caller's API key, or without a key by the name alone.

    A name cannot be guessed and takes only one profile. The Java agent over plain HTTP can send
    nothing else. Raise KeyRevoked if the key to which the name was issued has been revoked.
    """
    if caller.credential:
        access = await caller.access()
        credentials.require_write(access)
        credentials.require_own(access, project)
        issued = names.check(name_id, access.project_id, time.time())
        if issued.project != access.project:
            raise NotFound("No profile was requested under this name.")
    else:
        issued = names.check(name_id, project, time.time())
    if issued.key_id and not await authentication.is_active(issued.key_id):
        raise KeyRevoked
    return issued
