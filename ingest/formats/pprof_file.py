"""Pass-through of pprof files: find their profile type."""

from collections.abc import Sequence

from ingest.formats.import_options import NO_OPTIONS, ImportOptions, type_of_metrics
from ingest.formats.imported_profile import ImportedProfile
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.header import find_negative_types
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, DecodeLimits
from profiles.engine.pprof.symbols import ProfileStrings
from profiles.engine.pprof.wire import ProfileFields, WireReader, varint_fields
from projects.profile_types import ProfileType

_IN_USE, _ALLOCATED = "inuse_", "alloc_"


def import_pprof(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Return the file itself with its type. Raise BadProfile or TooLarge if it is no pprof file.

    The difference of two heap profiles, whose memory in use is negative where it shrank, is
    HEAP_ALLOC. Only the head and the signs of values are checked here; decoding checks the rest.
    """
    if options.type:
        return [ImportedProfile(options.type, raw)]
    limits = DecodeLimits()
    names, type = _sample_types(raw, limits)
    in_use = [name for name in names if name.lower().startswith(_IN_USE)]
    allocated = tuple(name for name in names if name.lower().startswith(_ALLOCATED))
    is_heap = type is ProfileType.HEAP and allocated
    if not is_heap or find_negative_types(raw, limits).isdisjoint(in_use):
        return [ImportedProfile(type, raw)]
    warning = difference_warning(in_use)
    return [
        ImportedProfile(ProfileType.HEAP_ALLOC, raw, warnings=(warning,), sample_types=allocated)
    ]


def difference_warning(left_out: Sequence[str]) -> str:
    """Return a sentence about the memory in use of a difference of two heap profiles."""
    return (
        f"{', '.join(left_out)[:200]} left out: this is a difference of two heap profiles, with "
        "negative values. Its allocations are stored."
    )


def _sample_types(raw: bytes, limits: DecodeLimits) -> tuple[list[str], ProfileType]:
    """Return the names of the sample types, and the profile type that they have."""
    reader = WireReader(raw)
    fields = ProfileFields(reader, limits)
    strings = ProfileStrings(reader, fields.ranges["strings"])
    rows = varint_fields(reader, fields.ranges["sample_types"], 3)[:MAX_SAMPLE_TYPES].tolist()
    if not rows:
        raise BadProfile("The format of the file was not recognised; state it as `format`.")
    metrics = [(strings.text(name), strings.text(unit)) for _, name, unit in rows]
    return [name for name, _ in metrics], type_of_metrics(metrics)
