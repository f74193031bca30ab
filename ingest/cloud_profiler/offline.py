"""CreateOfflineProfile: an upload without a capture request, which describes itself."""

from collections.abc import Awaitable, Callable

from common.request_body import Charge
from endpoints import credentials
from ingest import agents
from ingest.caller import Caller
from ingest.cloud_profiler.responses import ProfileJson, stored_json
from ingest.cloud_profiler.wire import OfflineProfile
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads.pipeline import StoredUpload, store_import
from ingest.uploads.requests import check_size
from ingest.uploads.upload_budget import uploads
from projects.credentials.authentication import Access
from projects.registration.registry import DeploymentKey

ReadProfile = Callable[[int, Charge], Awaitable[OfflineProfile]]


async def create_offline(caller: Caller, project: str, read: ReadProfile) -> ProfileJson:
    """Store an uploaded profile and describe it.

    `read` reads it for a project (Project.pk) and charges its bytes.
    An upload with the same bytes, deployment, labels and time returns the profile stored before.
    """
    access = await caller.access()
    credentials.require_write(access)
    credentials.require_own(access, project)
    with uploads.account(access.project) as charge:
        profile = await read(access.project, charge)
        check_size(profile.sent.body)
        return stored_json(await _store(access, caller, profile))


async def _store(access: Access, caller: Caller, profile: OfflineProfile) -> StoredUpload:
    sent, deployment = profile.sent, profile.deployment
    agent = agents.agent_seen(access, caller.headers, caller.peer, frozenset({profile.type}))
    key = DeploymentKey(
        service=deployment.target,
        zone=deployment.zone,
        version=deployment.version,
        language=deployment.language,
    )
    imported = ImportedProfile(profile.type, sent.body, profile.start_ns, sent.duration_ns)
    return await store_import(access, agent, key, sent.labels, imported)
