"""Decoded profile that is ready to be stored."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.pprof.decode import DecodedProfile
from profiles.models import TimeSource
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class NewProfile:
    """Fields of a Profile row; related rows are given by their primary keys."""

    project: int
    deployment: int
    agent: int | None
    service: str
    type: ProfileType
    time: datetime
    time_source: TimeSource
    duration_ns: int
    labels: dict[str, str]
    name_id: str
    body_hash: bytes  # of the uncompressed bytes, see `hash_of`
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # (metric name, unit, total), the default metric first
    tree: bytes  # encoded by profiles.engine.encoding.codec
    # Version 0.2.0 and earlier hashed the bytes as they were sent, and named profiles of
    # CreateOfflineProfile by that hash. Such profiles are recognised as long as they are retained.
    former_hash: bytes = b""
    former_name_id: str = ""  # "": the same as `name_id`
    absent_from: frozenset[int] = frozenset()  # blocks (Block.pk) that were searched in vain


@dataclass(frozen=True, slots=True)
class Copy:
    """Profile that is stored already."""

    name_id: str  # that of the new profile, or its former one
    body_hash: bytes


def hash_of(raw: bytes) -> bytes:
    """Return the 16-byte BLAKE2b hash by which repeated uploads are recognised.

    `raw` is the profile after gunzip: a sender that repeats an upload may compress it again, to
    other bytes.
    """
    return hashlib.blake2b(raw, digest_size=16).digest()


def totals_of(decoded: DecodedProfile) -> list[tuple[str, str, int]]:
    """Return (metric name, unit, total) of each metric, the default metric first."""
    rows = [
        (metric.name, metric.unit, total)
        for metric, total in zip(decoded.columns.metrics, decoded.totals, strict=True)
    ]
    return [rows.pop(decoded.default), *rows]


def new_profile(
    decoded: DecodedProfile,
    raw: bytes,
    *,
    project: int,
    deployment: int,
    agent: int | None,
    service: str,
    type: ProfileType,
    time: datetime,
    time_source: TimeSource,
    labels: dict[str, str],
    name_id: str,
    duration_ns: int | None = None,  # None: the duration stated in the profile
) -> NewProfile:
    """Build the row of an upload from its decoded profile and its uncompressed bytes."""
    return NewProfile(
        project=project,
        deployment=deployment,
        agent=agent,
        service=service,
        type=type,
        time=time,
        time_source=time_source,
        duration_ns=decoded.duration_ns if duration_ns is None else duration_ns,
        labels=labels,
        name_id=name_id,
        body_hash=hash_of(raw),
        samples=decoded.samples,
        weight=decoded.weight,
        totals=totals_of(decoded),
        tree=encode_columns(decoded.columns),
    )
