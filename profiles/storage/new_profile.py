"""Decoded profile that is ready to be stored."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.pprof.decode import DecodedProfile
from profiles.models import TimeSource
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class ProfileContent:
    """Columns of a Profile row that follow from the bytes of the profile alone."""

    body_hash: bytes  # of the uncompressed bytes, see `hash_body`
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # (metric name, unit, total), the default metric first
    tree: bytes  # encoded by profiles.engine.encoding.codec


@dataclass(frozen=True, slots=True)
class NewProfile:
    """Profile row to insert; related rows are given by their primary keys."""

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
    content: ProfileContent
    absent_from: frozenset[int] = frozenset()  # blocks (Block.pk) that were searched in vain


@dataclass(frozen=True, slots=True)
class Copy:
    """Profile that is stored already."""

    name_id: str
    body_hash: bytes


def hash_body(raw: bytes) -> bytes:
    """Return the 16-byte BLAKE2b hash by which repeated uploads are recognised.

    `raw` is the profile after gunzip: a sender that repeats an upload may compress it again, to
    other bytes.
    """
    return hashlib.blake2b(raw, digest_size=16).digest()


def encode_content(decoded: DecodedProfile, raw: bytes) -> ProfileContent:
    """Encode a decoded profile; `raw` is what was sent, after gunzip."""
    totals = [
        (metric.name, metric.unit, total)
        for metric, total in zip(decoded.columns.metrics, decoded.totals, strict=True)
    ]
    return ProfileContent(
        body_hash=hash_body(raw),
        samples=decoded.samples,
        weight=decoded.weight,
        totals=[totals.pop(decoded.default), *totals],
        tree=encode_columns(decoded.columns),
    )
