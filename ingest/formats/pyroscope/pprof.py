"""Profiles in the format pprof, with what Pyroscope's clients state beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_file import difference_warning
from ingest.formats.pyroscope.sample_types import type_samples
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.header import ProfileHeader, find_negative_types, read_header
from profiles.engine.pprof.limits import DecodeLimits
from projects.profile_types import INSTANTANEOUS, ProfileType


class Conversion(NamedTuple):
    """Profiles of one upload."""

    profiles: list[ImportedProfile]
    contention: str = ""  # kind of CONTENTION: mutex or block; "" if unknown
    # Labels of all samples. Some clients send the labels of the program only with each sample.
    sample_labels: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PprofContext:
    """Statements of the sender about a profile."""

    profile: str = ""  # Pyroscope's name of the profile: process_cpu, memory, mutex, …
    display: Mapping[str, str] = field(default_factory=dict)  # displayed names of sample types
    start_ns: int | None = None  # Unix time
    end_ns: int | None = None  # Unix time
    # The client does not say that allocations are those of the profile's duration.
    may_be_cumulative: bool = False


def import_pprof(
    body: bytes, raw: bytes, context: PprofContext, limits: DecodeLimits
) -> Conversion:
    """Assign the sample types of a pprof profile to profile types; `raw` is `body` after gunzip.

    Each profile type gets the same body with other sample types. Raise BadProfile if no sample type
    is known, and TooLarge above a limit.
    """
    header = read_header(raw, limits)
    typed = type_samples(header.sample_types, context.profile, context.display)
    names, warnings = dict(typed.names), []
    if typed.unknown:
        warnings.append(f"Sample types without a profile type: {_list_names(typed.unknown)}.")
    # Go's allocations since the start of the program have no duration; they cannot be added up.
    is_cumulative = context.may_be_cumulative and not header.duration_ns
    if is_cumulative and ProfileType.HEAP_ALLOC in names:
        left_out = names.pop(ProfileType.HEAP_ALLOC)
        warnings.append(
            f"Totals since the start of the program, not of this profile: {_list_names(left_out)}. "
            'Profiles of allocations have the label __delta__="false".'
        )
    if {ProfileType.HEAP, ProfileType.HEAP_ALLOC} <= names.keys():
        in_use = names[ProfileType.HEAP]
        if not find_negative_types(raw, limits).isdisjoint(in_use):
            warnings.append(difference_warning(names.pop(ProfileType.HEAP)))
    if not names:
        raise BadProfile(" ".join(warnings))
    is_split = len(names) > 1 or bool(warnings)
    profiles = [
        ImportedProfile(
            type_,
            body,
            start_ns=context.start_ns,
            ends_at_pprof_time=type_ not in INSTANTANEOUS and _is_end(header, context),
            warnings=tuple(warnings),
            sample_types=group if is_split else (),
        )
        for type_, group in names.items()
    ]
    return Conversion(profiles, typed.contention, header.common_labels)


def _is_end(header: ProfileHeader, context: PprofContext) -> bool:
    """Return True if the time of the profile is nearer to the stated end than to the start.

    Node.js writes the time at which a profile ends.
    """
    if context.start_ns is None or context.end_ns is None:
        return False
    return 2 * header.time_ns > context.start_ns + context.end_ns


def _list_names(names: tuple[str, ...]) -> str:
    shown = ", ".join(name[:60] for name in names[:8])
    return f"{shown}, …" if len(names) > 8 else shown
