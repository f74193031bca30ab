"""CreateOfflineProfile: an upload without a capture request, which describes itself."""

from endpoints import credentials
from ingest import agents
from ingest.cloud_profiler import wire
from ingest.cloud_profiler.responses import ProfileJson, stored_json
from ingest.cloud_profiler.wire import OfflineProfile
from ingest.formats.imported_profile import ImportedProfile
from ingest.imports.storing import Import, store_import
from ingest.uploads.requests import UploadRequest, check_size, read_upload
from ingest.uploads.upload_budget import uploads
from projects.credentials.authentication import Access
from projects.registration.registry import DeploymentKey


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
        stored = await store_import(access, _import(access, request, profile))
    return stored_json(*stored)


def _import(access: Access, request: UploadRequest, profile: OfflineProfile) -> Import:
    sent, deployment = profile.sent, profile.deployment
    agent = agents.agent_seen(access, request.headers, request.peer, frozenset({profile.type}))
    key = DeploymentKey(
        service=deployment.target,
        zone=deployment.zone,
        version=deployment.version,
        language=deployment.language,
    )
    imported = ImportedProfile(profile.type, sent.body, profile.start_ns, sent.duration_ns)
    return Import(imported, key, sent.labels, agent)
