"""Decode the body of an upload into the values of a head row and the agent's self-report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.pprof.decode import DecodedProfile, decode_profile
from profiles.engine.pprof.limits import DecodeLimits
from profiles.storage.new_profile import hash_of, totals_of
from projects.profile_types import ProfileType
from projects.registration.agent_reports import SelfReport

_COMMENT_PREFIX = "flamewatch."
_LARGEST = 2**53  # far above any count that an agent reaches in one profile
_NO_REPORT = SelfReport()


@dataclass(frozen=True, slots=True)
class DecodedUpload:
    """Decoded profile in the form in which it is stored."""

    body_hash: bytes  # of the profile after gunzip
    former_hash: bytes  # of the bytes as they were sent, see NewProfile.former_hash
    tree: bytes  # encoded columns of the call tree, see profiles.engine.encoding.codec
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # metric name, unit, total
    time_ns: int  # Unix time; 0: unknown
    duration_ns: int  # 0: unknown
    comments: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # descriptions of what was left out of the profile


def decode_upload(
    body: bytes, raw: bytes, type: ProfileType, sample_types: Sequence[str] = ()
) -> DecodedUpload:
    """Decode the sample types of these names, or all, of a profile. `raw` is `body` after gunzip.

    Raise BadProfile or TooLarge of profiles.engine.errors.
    """
    decoded: DecodedProfile = decode_profile(raw, type, decode_limits(), sample_types)
    return DecodedUpload(
        body_hash=hash_of(raw),
        former_hash=hash_of(body),
        tree=encode_columns(decoded.columns),
        samples=decoded.samples,
        weight=decoded.weight,
        totals=totals_of(decoded),
        time_ns=decoded.time_ns,
        duration_ns=decoded.duration_ns,
        comments=decoded.comments,
        warnings=decoded.warnings,
    )


def self_report(comments: Sequence[str]) -> SelfReport:
    """Parse the comments of a profile; missing and non-numeric values stay unset."""
    if not comments:  # the usual case: most agents send no comments
        return _NO_REPORT
    values = dict(
        comment.removeprefix(_COMMENT_PREFIX).split("=", 1)
        for comment in comments
        if comment.startswith(_COMMENT_PREFIX) and "=" in comment
    )
    cpu = [_number(values, name) for name in ("agent_cpu_ns", "sampler_cpu_ns")]
    cpu_times = [ns for ns in cpu if ns is not None]
    return SelfReport(
        sampler="".join(
            letter for letter in values.get("sampler", "")[:32] if letter.isprintable()
        ),
        samples=_number(values, "samples") or 0,
        dropped=_number(values, "samples_dropped"),
        cpu_ns=sum(cpu_times) if cpu_times else None,
        memory_bytes=_number(values, "agent_memory_bytes"),
    )


def _number(values: dict[str, str], name: str) -> int | None:
    text = values.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    return min(int(text), _LARGEST)


@cache
def decode_limits() -> DecodeLimits:
    return DecodeLimits(
        max_samples=settings.MAX_SAMPLES,
        max_depth=settings.MAX_DEPTH,
        max_nodes=settings.MAX_NODES,
        max_symbols=settings.MAX_SYMBOLS,
        max_sample_labels=settings.MAX_SAMPLE_LABELS,
        max_string_bytes=settings.MAX_STRING_BYTES,
        max_expansion=settings.MAX_EXPANSION,
        max_total=settings.MAX_TOTAL,
        max_stack_frames=settings.MAX_STACK_FRAMES,
    )


@receiver(setting_changed)
def _forget(**_: object) -> None:
    decode_limits.cache_clear()
