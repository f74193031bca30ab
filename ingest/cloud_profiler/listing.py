"""ListProfiles: profiles of a project, newest first.

The filters are an extension: Cloud Profiler's API has none.
"""

import base64
from collections.abc import Mapping
from datetime import datetime

from endpoints import credentials, json_message
from endpoints.errors import BadField
from endpoints.json_message import format_duration, format_timestamp
from endpoints.query_execution import admit_query, execute
from ingest.caller import Caller
from ingest.cloud_profiler.responses import ProfileJson, deployment_json, profile_name
from profiles import listing
from profiles.listing import InvalidPageToken, ListedProfile, ProfileListing
from projects.audit import Origin
from projects.credentials.authentication import Access, require_service

MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE = 1000, 100
MAX_EXPORT_PAGE_SIZE = 100  # profiles with their bytes, each of which takes some milliseconds
# Header of REST, metadata of gRPC: the fields that a client of a Google API asks for.
_FIELD_MASK = "x-goog-fieldmask"
_BYTES_FIELDS = ("profileBytes", "profile_bytes", "*")


async def list_profiles(
    caller: Caller, project: str, query: Mapping[str, str]
) -> dict[str, object]:
    """Return one page of profiles, and the token of the next page if there is one.

    `query` has the fields of a ListProfilesRequest and the filters, as text. A list of all services
    has those that the key may read.
    """
    access = await caller.authenticate()
    credentials.require_own(access, project)
    credentials.require_read(access)
    await admit_query(access)
    size, filters, mark = _page_size(query), _filters(access, query), _page_mark(query)
    if filters.service:
        require_service(access, filters.service)
    if _wants_bytes(caller, query):
        return await _export(caller, access, filters, min(size, MAX_EXPORT_PAGE_SIZE), mark)
    try:
        rows = await execute(
            access,
            lambda context: listing.page(context, filters, size + 1, mark),
            kind="list_profiles",
        )
    except InvalidPageToken:
        raise _bad_token() from None
    message: dict[str, object] = {"profiles": [_json(access, row) for row in rows[:size]]}
    return message | {"nextPageToken": _token(rows[size - 1].mark)} if len(rows) > size else message


async def _export(
    caller: Caller, access: Access, filters: ProfileListing, size: int, mark: str
) -> dict[str, object]:
    """Return a page of profiles with their bytes."""
    try:
        found = await execute(
            access,
            lambda context: listing.export_page(context, filters, size, mark),
            origin=Origin(caller.peer),
        )
    except InvalidPageToken:
        raise _bad_token() from None
    profiles = [
        {**_json(access, row), "profileBytes": base64.b64encode(data).decode()}
        for row, data in found.profiles
    ]
    message: dict[str, object] = {"profiles": profiles}
    if found.skipped:
        message["skippedProfiles"] = found.skipped
    return message | {"nextPageToken": _token(found.mark)} if found.mark else message


def _wants_bytes(caller: Caller, query: Mapping[str, str]) -> bool:
    """Return True if the request asks for the bytes of the profiles, which cost more to list."""
    text = query.get("profileBytes", "")
    if text not in ("", "true", "false"):
        raise BadField("profileBytes", "must be true or false")
    mask = caller.headers.get(_FIELD_MASK, "").split(",")
    return text == "true" or any(field.strip().endswith(_BYTES_FIELDS) for field in mask)


def _filters(access: Access, query: Mapping[str, str]) -> ProfileListing:
    return ProfileListing(
        project=access.project,
        service=json_message.read_text(query, "service", "service"),
        type=json_message.parse_profile_type(query["type"], "type") if query.get("type") else None,
        zone=json_message.read_text(query, "zone", "zone"),
        version=json_message.read_text(query, "version", "version"),
        start=_time(query, "start"),
        end=_time(query, "end"),
    )


def _page_size(query: Mapping[str, str]) -> int:
    text = query.get("pageSize", "") or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadField("pageSize", f"must be a number; the limit is {MAX_PAGE_SIZE}")
    return min(int(text) or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def _time(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name, "")
    return json_message.parse_time(text, name) if text else None


def _token(mark: str) -> str:
    return base64.urlsafe_b64encode(mark.encode()).decode().rstrip("=")


def _page_mark(query: Mapping[str, str]) -> str:
    text = query.get("pageToken", "")
    try:
        return base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        ).decode()
    except ValueError:
        raise _bad_token() from None


def _bad_token() -> BadField:
    return BadField("pageToken", "is invalid: use the nextPageToken of the previous response")


def _json(access: Access, listed: ListedProfile) -> ProfileJson:
    row, deployment = listed.profile, listed.deployment
    labels = {}
    if deployment is not None:
        labels = {
            "language": deployment.language,
            "version": deployment.version,
            "zone": deployment.zone,
        }
    return {
        "name": profile_name(access.project_id, row.name_id),
        "profileType": row.type,
        "deployment": deployment_json(access.project_id, row.service, labels),
        "duration": format_duration(row.duration_ns / 1e9),
        "labels": row.labels,
        "startTime": format_timestamp(row.time),
    }
