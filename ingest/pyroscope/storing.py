"""Store converted profiles of Pyroscope's clients."""

from dataclasses import dataclass, replace

from ingest.formats.pyroscope.pprof import Conversion
from ingest.imports.labels import MappedLabels
from ingest.uploads.pipeline import StoredUpload, store_import
from ingest.uploads.requests import UploadRequest
from projects.credentials.authentication import Access

# Duration of profiles that state none, neither by `until` nor in the pprof: the period in which
# most of Pyroscope's clients send.
DEFAULT_DURATION_NS = 10 * 10**9


@dataclass(frozen=True, slots=True)
class StatedTimes:
    start_ns: int | None = None  # Unix time
    duration_ns: int | None = None


async def store_profiles(
    request: UploadRequest,
    access: Access,
    conversion: Conversion,
    mapped: MappedLabels,
    times: StatedTimes,
) -> list[StoredUpload]:
    """Store the profiles of one upload. Raise what store_import raises."""
    types = frozenset(profile.type for profile in conversion.profiles)
    instance = mapped.labels.get("instance", "")
    agent = request.describe_agent(access, types, instance)
    stored = []
    for profile in conversion.profiles:
        timed = replace(
            profile,
            start_ns=profile.start_ns or times.start_ns,
            duration_ns=profile.duration_ns or times.duration_ns or DEFAULT_DURATION_NS,
            warnings=(*profile.warnings, *mapped.warnings),
        )
        stored.append(await store_import(access, agent, mapped.deployment, mapped.labels, timed))
    return stored
