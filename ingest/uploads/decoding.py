"""Decode the body of an upload into the values of a head row."""

from dataclasses import dataclass

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.pprof.decode import DecodedProfile, decode_profile
from profiles.limits import decode_limits
from profiles.storage.new_profile import hash_of, totals_of
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class DecodedUpload:
    """Decoded profile in the form in which it is stored."""

    body_hash: bytes
    tree: bytes  # encoded columns of the call tree, see profiles.engine.encoding.codec
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # metric name, unit, total
    time_ns: int  # Unix time; 0: unknown
    duration_ns: int  # 0: unknown
    comments: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # descriptions of what was left out of the profile


def decode_upload(body: bytes, raw: bytes, type: ProfileType) -> DecodedUpload:
    """Decode a profile. `raw` is `body` after gunzip.

    Raise BadProfile or TooLarge of profiles.engine.errors.
    """
    digested: DecodedProfile = decode_profile(raw, type, decode_limits())
    return DecodedUpload(
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
