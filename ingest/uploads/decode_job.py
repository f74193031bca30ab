"""Functions that read the body of a profile, in a thread or in a worker process.

They are pure and import no Django: limits are arguments. Their results are bytes and plain values.
"""

from dataclasses import dataclass, replace

from ingest.formats.pyroscope.pprof import Conversion, PprofContext, import_pprof
from profiles.engine.pprof.decode import decode_profile
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.limits import DecodeLimits
from profiles.storage.profile_content import ProfileContent, encode_content


@dataclass(frozen=True, slots=True)
class BodyLimits:
    max_raw: int  # bytes after gunzip
    decode: DecodeLimits


@dataclass(frozen=True, slots=True)
class DecodedUpload:
    """Content of a profile to store, and what else its bytes say."""

    content: ProfileContent
    time_ns: int  # since 1970; 0 if unknown
    duration_ns: int  # 0 if unknown
    comments: tuple[str, ...]
    warnings: tuple[str, ...]  # sentences about data that was left out or repaired


def decode_body(
    body: bytes, limits: BodyLimits, profile_type: str, sample_types: tuple[str, ...]
) -> DecodedUpload:
    """Unpack, decode and encode a profile, gzipped or not. Raise BadProfile or TooLarge."""
    raw = gunzip(body, limits.max_raw)
    decoded = decode_profile(raw, profile_type, limits.decode, sample_types)
    return DecodedUpload(
        content=encode_content(decoded, raw),
        time_ns=decoded.time_ns,
        duration_ns=decoded.duration_ns,
        comments=decoded.comments,
        warnings=decoded.warnings,
    )


def assign_types(body: bytes, limits: BodyLimits, context: PprofContext) -> Conversion:
    """Assign the sample types of a profile to profile types; the profiles come without bytes.

    Raise BadProfile or TooLarge.
    """
    raw = gunzip(body, limits.max_raw)
    conversion = import_pprof(b"", raw, context, limits.decode)
    return conversion._replace(sample_labels=dict(conversion.sample_labels))


def with_body(conversion: Conversion, body: bytes) -> Conversion:
    """Return the result of `assign_types` with the body, which each profile shares."""
    return conversion._replace(
        profiles=[replace(profile, pprof=body) for profile in conversion.profiles]
    )
