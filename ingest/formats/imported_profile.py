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
