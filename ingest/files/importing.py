"""Convert a file of another profiler, and store its profiles."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypedDict
from urllib.parse import urlencode

from django.conf import settings

from endpoints.json_message import format_duration, format_timestamp
from ingest.files.conversion_job import convert_file
from ingest.files.params import ImportParams
from ingest.formats.detect import ConvertedFile, FileFormat
from ingest.formats.imported_profile import ImportedProfile
from ingest.uploads import conversion_pool
from ingest.uploads.pipeline import StoredUpload, store_import
from ingest.uploads.upload_budget import UploadAccount
from profiles.models import TimeSource
from projects.credentials.authentication import Access
from projects.profile_types import INSTANTANEOUS, ProfileType
from projects.registration.registry import AgentSeen

# Duration of profiles that need one, such as CPU, if the file states none; a warning says so.
DEFAULT_DURATION = timedelta(seconds=10)
_FLAME_RANGE = timedelta(minutes=1)  # range of the flame graph of a single profile


class MetricJson(TypedDict):
    name: str
    unit: str
    total: int


class StoredFileJson(TypedDict):
    name: str
    type: str
    service: str
    startTime: str
    duration: str
    samples: int
    metrics: list[MetricJson]
    warnings: list[str]
    url: str  # of the flame graph


class ImportJson(TypedDict):
    format: str
    profiles: list[StoredFileJson]


async def import_body(
    access: Access, agent: AgentSeen, params: ImportParams, body: bytes, account: UploadAccount
) -> ImportJson:
    """Convert a file and store its profiles, in this order of their types.

    Those before the first one that cannot be stored stay stored; sent again, the file completes
    them. Raise what convert and store_import raise.
    """
    file = await convert(access.project, params, body)
    stored = []
    for profile in file.profiles:
        account.charge(len(profile.pprof))
        completed = complete_profile(profile, params, states_duration=file.states_duration)
        sender = replace(agent, types=frozenset({profile.type}))
        done = await store_import(access, sender, params.deployment, params.labels, completed)
        stored.append(_build_file_json(done, params))
    return {"format": file.format.value, "profiles": stored}


async def convert(project: int, params: ImportParams, body: bytes) -> ConvertedFile:
    """Convert a file in a worker process.

    Raise what import_file and conversion_pool.convert raise.
    """
    most = int(settings.MAX_PROFILE_BYTES)
    file = await conversion_pool.convert(
        project, convert_file, body, params.options, most, params.format
    )
    if file.format is not FileFormat.PPROF:
        return file
    return replace(file, profiles=[replace(each, pprof=body) for each in file.profiles])


def complete_profile(
    profile: ImportedProfile, params: ImportParams, *, states_duration: bool
) -> ImportedProfile:
    """Add the time and the duration of the request to a profile that lacks them."""
    start, duration, warnings = profile.start_ns, profile.duration_ns, profile.warnings
    if start is None and params.time is not None:
        start = (params.time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    if duration is None and profile.type not in INSTANTANEOUS:
        given = params.duration
        duration = (given or DEFAULT_DURATION) // timedelta(microseconds=1) * 1000
        if given is None and not states_duration:
            warnings = (
                *warnings,
                f"The file doesn't state a duration, so {DEFAULT_DURATION.seconds} s is assumed. "
                "Send it as `duration`.",
            )
    return replace(profile, start_ns=start, duration_ns=duration, warnings=warnings)


def _build_file_json(stored: StoredUpload, params: ImportParams) -> StoredFileJson:
    target, profile = stored.target, stored.profile
    warnings = [*stored.warnings]
    if params.time is not None and profile.time_source == TimeSource.ARRIVAL:
        warnings.append(
            "The stated time is in the future, or before the retention of the project: the time of "
            "arrival is used."
        )
    return {
        "name": f"projects/{target.project_id}/profiles/{profile.name_id}",
        "type": profile.type.value,
        "service": target.service,
        "startTime": format_timestamp(profile.time),
        "duration": format_duration(profile.duration_ns / 1e9),
        "samples": profile.content.samples,
        "metrics": [
            {"name": name, "unit": unit, "total": total}
            for name, unit, total in profile.content.totals
        ],
        "warnings": warnings,
        "url": _flame_url(
            target.project_id, target.service, profile.type, profile.name_id, profile.time
        ),
    }


def _flame_url(
    project_id: str, service: str, type: ProfileType, name_id: str, time: datetime
) -> str:
    """Return the address of the flame graph of one profile (docs/reference/urls.md)."""
    start = time.replace(microsecond=0)
    query = {
        "service": service,
        "type": type.value,
        "from": format_timestamp(start),
        "to": format_timestamp(start + _FLAME_RANGE),
        "profile": name_id,
    }
    return f"{settings.FLAMEWATCH_URL}/p/{project_id}/flame?{urlencode(query)}"
