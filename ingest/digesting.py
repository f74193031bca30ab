"""From the bytes of an upload to what a row of the head needs."""

from dataclasses import dataclass

from profiles.engine.codec import encode_columns
from profiles.engine.digest import Digested, digest
from profiles.limits import digest_limits
from profiles.store.new_profile import hash_of, totals_of
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class Packed:
    """A digested profile as it is stored."""

    body_hash: bytes
    tree: bytes  # profiles.engine.codec
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # metric name, unit, total
    time_ns: int  # 0: unknown
    duration_ns: int  # 0: unknown
    comments: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # what of it was left out


def pack(body: bytes, raw: bytes, type: ProfileType) -> Packed:
    """`raw`: the body unpacked. Raises BadProfile and TooLarge of profiles.engine.errors."""
    digested: Digested = digest(raw, type, digest_limits())
    return Packed(
        body_hash=hash_of(body),
        tree=encode_columns(digested.columns),
        samples=digested.samples,
        weight=digested.weight,
        totals=totals_of(digested),
        time_ns=digested.time_ns,
        duration_ns=digested.duration_ns,
        comments=digested.comments,
        warnings=digested.warnings,
    )
