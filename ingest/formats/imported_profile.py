"""Result of an importer: a profile of a foreign format, converted to pprof."""

from dataclasses import dataclass

from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class ImportedProfile:
    """Profile as pprof, with the values that its source states outside of the samples.

    The same source always gives the same bytes: they are the identity by which a repeated upload
    is recognised.
    """

    type: ProfileType
    pprof: bytes  # gzipped or not
    start_ns: int | None = None  # Unix time; None: not stated
    duration_ns: int | None = None  # None: not stated
    warnings: tuple[str, ...] = ()  # sentences about samples that were left out
    # Names of the sample types to store, as the pprof writes them; empty: all. A profile of memory
    # in use and of allocations is stored twice, as HEAP and as HEAP_ALLOC.
    sample_types: tuple[str, ...] = ()
    # The time in the pprof, which otherwise takes precedence over start_ns, is that of the end.
    ends_at_pprof_time: bool = False
