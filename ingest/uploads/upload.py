"""Upload of one profile, and the row that it becomes once it is decoded."""

import base64
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import NamedTuple

import orjson
from django.conf import settings

from endpoints.errors import BadField
from ingest.deployments import Target
from ingest.uploads.decode_job import DecodedUpload
from profiles.models import TimeSource
from profiles.storage.new_profile import NewProfile
from profiles.storage.profile_content import ProfileContent
from projects.profile_types import INSTANTANEOUS, ProfileType

MAX_TIME_AHEAD = timedelta(minutes=5)
MAX_DURATION_NS = 24 * 3600 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Upper bound of claimed times, Unix time in ns (the year 2096), to keep datetime arithmetic in
# range.
_MAX_CLAIM_NS = 4 * 10**18


class StartTime(NamedTuple):
    time: datetime
    source: TimeSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(ABC):
    """Profile to store: its bytes, its owner, and what is stated beside the bytes."""

    target: Target
    agent: int | None  # Agent.pk
    type: ProfileType
    pprof: bytes  # gzipped or not
    labels: dict[str, str]
    duration_ns: int | None  # None: not stated
    sample_types: tuple[str, ...] = ()  # names of those to store; empty: all
    warnings: tuple[str, ...] = ()  # sentences about data that was left out before decoding

    @abstractmethod
    def build_row(self, decoded: DecodedUpload) -> NewProfile:
        """Build the head row. Raise BadField if no duration is usable."""

    def _row(
        self,
        content: ProfileContent,
        start: StartTime,
        duration_ns: int,
        name_id: str,
    ) -> NewProfile:
        return NewProfile(
            project=self.target.project,
            deployment=self.target.deployment,
            agent=self.agent,
            service=self.target.service,
            type=self.type,
            time=start.time,
            time_source=start.source,
            duration_ns=duration_ns,
            labels=self.labels,
            name_id=name_id,
            content=content,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedUpload(Upload):
    """Profile of a capture request, which determines its name and time."""

    name_id: str
    requested_at: datetime

    def build_row(self, decoded: DecodedUpload) -> NewProfile:
        requested_ns = round(settings.CAPTURE_SECONDS * 1e9)
        duration = choose_duration_ns(
            self.type, decoded.duration_ns, self.duration_ns, requested_ns
        )
        start = StartTime(self.requested_at, TimeSource.ASSIGNED)
        return self._row(decoded.content, start, duration, self.name_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineUpload(Upload):
    """Profile without a capture request: its name is derived from its content."""

    start_ns: int | None  # Unix time; None: not stated
    # The time in the pprof, which otherwise takes precedence over start_ns, is that of the end.
    ends_at_pprof_time: bool
    retention: timedelta

    def build_row(self, decoded: DecodedUpload) -> NewProfile:
        duration = choose_duration_ns(self.type, decoded.duration_ns, self.duration_ns)
        pprof_time = 0 if self.ends_at_pprof_time else decoded.time_ns
        start = choose_start(
            (pprof_time, self.start_ns), datetime.now(UTC), self.retention, duration
        )
        time_ns = pprof_time or self.start_ns or 0
        name_id = self._name_id(time_ns, decoded.content.body_hash)
        return self._row(decoded.content, start, duration, name_id)

    def _name_id(self, time_ns: int, body_hash: bytes) -> str:
        """Derive a name from the identity of an upload, so that a repeated upload finds the first.

        The time is the one claimed by the sender. Without a claim, the same bytes are the same
        profile whenever they are sent.
        """
        identity = orjson.dumps(
            [body_hash.hex(), self.target.deployment, self.type, self.labels, time_ns],
            option=orjson.OPT_SORT_KEYS,
        )
        identity_hash = blake2b(identity, digest_size=24).digest()
        return f"offline-{base64.urlsafe_b64encode(identity_hash).decode()}"


def choose_duration_ns(
    type: ProfileType, measured: int, stated: int | None, requested: int = 0
) -> int:
    """Return the duration of a profile in ns: the first usable of the three values.

    `measured` is from the profile, `stated` from its message, `requested` from the capture request.
    Only values from 1 ns to 24 h are usable: some converters write a Unix time as `duration_nanos`.
    Instantaneous types have the duration 0. Raise BadField if no value is usable.
    """
    if type in INSTANTANEOUS:
        return 0
    for claim in (measured, stated or 0, requested):
        if 0 < claim <= MAX_DURATION_NS:
            return claim
    given = "is not given" if stated is None else f"is {stated / 1e9:g} s"
    raise BadField(
        "duration",
        f"{given}, and duration_nanos of the profile is {measured}; one of them must be from 1 "
        f'to {MAX_DURATION_NS} ns (24 h). Set `duration` in the request, like "10s"',
    )


def choose_start(
    claims: tuple[int | None, ...], now: datetime, retention: timedelta, duration_ns: int
) -> StartTime:
    """Return the first claimed start (Unix time in ns) that is plausible.

    A plausible claim is within `retention` and at most 5 minutes ahead of `now`. Without one,
    assume that the profile ended at `now`.
    """
    for claim in claims:
        start = _EPOCH + timedelta(microseconds=min(claim or 0, _MAX_CLAIM_NS) // 1000)
        if now - retention <= start <= now + MAX_TIME_AHEAD:
            return StartTime(start, TimeSource.PROFILE)
    return StartTime(now - timedelta(microseconds=duration_ns // 1000), TimeSource.ARRIVAL)
