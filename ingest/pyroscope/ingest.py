"""`POST /ingest`: one upload in any of Pyroscope's formats."""

from typing import TypedDict

from django.conf import settings

from endpoints import credentials
from ingest.pyroscope.conversion import convert_ingest
from ingest.pyroscope.ingest_query import IngestQuery, read_ingest_query
from ingest.pyroscope.labels import map_pyroscope_labels
from ingest.pyroscope.multipart import media_type
from ingest.pyroscope.storing import StatedTimes, store_profiles
from ingest.uploads.pipeline import StoredUpload
from ingest.uploads.requests import UploadRequest, read_body
from ingest.uploads.upload_budget import UploadAccount, process_budget
from projects.credentials.authentication import Access


class StoredJson(TypedDict):
    name: str
    profileType: str
    warnings: list[str]


class IngestJson(TypedDict):
    """Response; Pyroscope's clients read only its status."""

    profiles: list[StoredJson]


async def authenticate(request: UploadRequest) -> Access:
    """Authenticate a client, also one whose Basic password is no key of ours.

    X-Scope-OrgID is ignored: the key determines the project. Raise NoKey, KeyRejected or
    WrongScope.
    """
    access = await request.authenticate(credentials.basic_password(request.headers))
    credentials.require_write(access)
    return access


async def ingest(request: UploadRequest) -> IngestJson:
    """Store the profiles of an upload, and return their names.

    An upload with the same bytes, name and time again returns the profiles stored before.
    """
    access = await authenticate(request)
    content_type = request.headers.get("content-type", "")
    query = read_ingest_query(request.query, media_type(content_type))
    with process_budget.account(access.project) as account:
        body = await read_body(request, account, int(settings.MAX_UPLOAD_BYTES))
        stored = await _store(request, access, query, body, account)
    return {"profiles": [_describe(each) for each in stored]}


async def _store(
    request: UploadRequest, access: Access, query: IngestQuery, body: bytes, account: UploadAccount
) -> list[StoredUpload]:
    content_type = request.headers.get("content-type", "")
    conversion = await convert_ingest(access.project, body, content_type, query)
    if not conversion.profiles:
        return []
    sizes = {id(profile.pprof): len(profile.pprof) for profile in conversion.profiles}
    account.charge(sum(sizes.values()))
    app = query.app
    mapped = map_pyroscope_labels(app.labels, conversion, app.name, query.spy_name)
    times = StatedTimes(query.start_ns, query.duration_ns)
    return await store_profiles(request, access, conversion, mapped, times)


def _describe(stored: StoredUpload) -> StoredJson:
    new = stored.profile
    return {
        "name": f"projects/{stored.target.project_id}/profiles/{new.name_id}",
        "profileType": new.type.value,
        "warnings": [*stored.warnings],
    }
